import { GitMissingError, git } from "./run-git.ts";

/** What a directory is to git. */
export type RepositoryState = "ready" | "not-installed" | "no-repository" | "not-trusted";

/** Asks git itself, which also says whether it trusts the repository. Rejects only when the signal aborts. */
export async function repositoryState(directory: string, signal: AbortSignal): Promise<RepositoryState> {
  try {
    const { code, stdout, stderr } = await git(["rev-parse", "--is-inside-work-tree"], { directory, signal });
    if (code === 0 && stdout.trim() === "true") return "ready";
    return stderr.includes("dubious ownership") ? "not-trusted" : "no-repository";
  } catch (error) {
    if (error instanceof GitMissingError) return "not-installed";
    throw error;
  }
}
