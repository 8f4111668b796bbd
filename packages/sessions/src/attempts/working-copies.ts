import { existsSync, lstatSync, mkdirSync, readFileSync, statfsSync } from "node:fs";
import { basename, join } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { readGitIndex } from "@gennai/machine/git-data/git-index";
import { ServiceError } from "@gennai/machine/service-error";
import { copyTree } from "@gennai/shell/copy-tree";
import { readTreeState, type TreeState } from "@gennai/shell/tree-state";

export interface WorkingCopies {
  /** Directories of the attempts, in order. */
  readonly directories: readonly string[];
  /** An unchanged copy; no attempt works in it. */
  readonly base: string;
  readonly state: TreeState;
}

/**
 * Copies a workspace for each attempt: with git's data, ignored files (tests need dependencies) and uncommitted changes;
 * without files with secrets that git does not track. Rejects with `ServiceError` if copying fails.
 *
 * @param place an empty directory
 */
export async function makeWorkingCopies(
  workspace: string,
  place: string,
  {
    count,
    lay,
    signal,
  }: {
    readonly count: number;
    /** Applies to the first copy what is proposed but not in the workspace yet. */
    readonly lay?: ((base: string) => Promise<void>) | undefined;
    readonly signal: AbortSignal;
  },
): Promise<WorkingCopies> {
  const repository = join(workspace, ".git");
  if (lstatSync(repository, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new ServiceError(
      "failed_precondition",
      "Attempts need a whole repository to copy. This directory is not the top of one with its own data.",
      {
        reason: "no_repository",
        hint: "Run it at the top of the main working tree, or make it a repository: git init",
      },
    );
  }
  const tracked = trackedIn(repository);
  const skip = (path: string): boolean =>
    /^\.git\/(?:worktrees$|(?:.*\/)?[^/]+\.lock$)/.test(path) ||
    (!path.startsWith(".git/") && isLeftOut(path) && !tracked(path));
  const name = basename(workspace);
  const directories = Array.from({ length: count }, (_, index) => join(place, String(index + 1), name));
  const base = join(place, "base", name);
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const bytes = await copyTree(workspace, base, { skip, signal });
  const { bavail, bsize } = statfsSync(place);
  if (bavail * bsize < bytes * count) {
    throw new ServiceError(
      "failed_precondition",
      `There is not enough space beside the workspace for ${count} copies of ${Math.ceil(bytes / 1024 ** 2)} MiB.`,
      { reason: "no_space", hint: "Make fewer attempts, or make room." },
    );
  }
  await lay?.(base);
  const state = await readTreeState(base, signal);
  for (const directory of directories) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // All are made from this one, because the user may save files in the meantime.
    await copyTree(base, directory, { skip: () => false, signal });
  }
  return { directories, base, state };
}

/** Secrets, and the workspace's own records. */
function isLeftOut(path: string): boolean {
  return secretPath(path) !== undefined || (path.startsWith(`${ledgerDirectory}/`) && path.endsWith(".jsonl"));
}

function trackedIn(repository: string): (path: string) => boolean {
  const file = join(repository, "index");
  const index = existsSync(file) ? readGitIndex(readFileSync(file)) : new Map<string, unknown>();
  return (path) => index?.has(path) === true;
}
