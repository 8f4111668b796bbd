import { isProtectedBranch } from "@gennai/governance/policies/branch";
import { defaultRemoteBranch, readGitHead } from "@gennai/machine/git-data/git-head";
import { type RepositoryState, seeRepository } from "./repository-state.ts";
import { git } from "./run/run-git.ts";

/** A working tree as git sees it at one moment. */
export interface WorkspaceState {
  readonly git: RepositoryState;
  /** Undefined on a detached HEAD, and if git is not ready. */
  readonly branch: string | undefined;
  /** Undefined before the first commit. */
  readonly commit: string | undefined;
  /** Files with changes that are not committed, and files git does not know; at most `mostFiles`. */
  readonly changedFiles: number;
  /** What protects the branch; undefined if the agent may work on it. */
  readonly protectedBy: string | undefined;
}

const mostFiles = 10_000;

/** The state of a working tree. Changes nothing, not even git's index. Rejects only when the signal aborts. */
export async function readWorkspaceState(
  directory: string,
  options: { readonly protect: readonly string[]; readonly signal: AbortSignal },
): Promise<WorkspaceState> {
  const { state } = await seeRepository(directory, options.signal);
  const nothing = { branch: undefined, commit: undefined, changedFiles: 0, protectedBy: undefined };
  if (state !== "ready") return { git: state, ...nothing };
  const head = readGitHead(directory);
  const branch = head.type === "branch" ? head.branch : undefined;
  return {
    git: state,
    branch,
    commit: head.type === "none" ? undefined : head.commit,
    changedFiles: await countChanges(directory, options.signal),
    protectedBy:
      branch === undefined
        ? undefined
        : isProtectedBranch(branch, { extra: options.protect, remoteDefault: defaultRemoteBranch(directory) }),
  };
}

async function countChanges(directory: string, signal: AbortSignal): Promise<number> {
  const args = ["status", "--porcelain=v1", "-z", "--no-renames"];
  try {
    const { stdout } = await git(args, { directory, signal });
    return Math.min(mostFiles, stdout.split("\0").length - 1);
  } catch (error) {
    signal.throwIfAborted();
    // More output than fits means at least the largest number.
    if (error instanceof RangeError) return mostFiles;
    throw error;
  }
}
