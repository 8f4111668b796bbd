import { UnsafeRepository } from "./run/confirmed-repository.ts";
import { GitMissingError } from "./run/machine-git.ts";
import { git } from "./run/run-git.ts";

/** What git says of a directory. */
export type RepositoryState = "ready" | "not-installed" | "no-repository" | "not-trusted";

export interface SeenRepository {
  readonly state: RepositoryState;
  /** Reason for people; empty if it is ready. */
  readonly reason: string;
}

/**
 * Asks git itself, which also says whether it trusts the repository. A repository whose data leads elsewhere is not trusted
 * either. Rejects only when the signal aborts.
 */
export async function seeRepository(directory: string, signal: AbortSignal): Promise<SeenRepository> {
  try {
    const { code, stdout, stderr } = await git(["rev-parse", "--is-inside-work-tree"], { directory, signal });
    if (code === 0 && stdout.trim() === "true") return { state: "ready", reason: "" };
    return stderr.includes("dubious ownership")
      ? { state: "not-trusted", reason: "It belongs to another user." }
      : { state: "no-repository", reason: "The workspace is not a git repository." };
  } catch (error) {
    if (error instanceof GitMissingError) return { state: "not-installed", reason: error.message };
    if (error instanceof UnsafeRepository) return { state: "not-trusted", reason: error.message };
    throw error;
  }
}
