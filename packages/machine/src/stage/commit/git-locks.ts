import { existsSync, linkSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathsInGit } from "../../git-data/git-path.ts";
import { hasCode } from "../../system-error.ts";
import { type HeldDirectory, holdDirectory } from "../../workspace/files/held-directory.ts";
import { statIfPresent } from "../files/look-at-entry.ts";
import type { CommitJournal } from "../transaction/commit-journal.ts";
import { NotCommitted } from "../transaction/stage-error.ts";
import type { StagedRoot } from "../transaction/staged-root.ts";
import type { Transaction } from "../transaction/transaction.ts";

type Lock = CommitJournal["locks"][number];

/** The lock files that git itself would take to change these, each once. */
export function locksFor(
  { roots }: Transaction,
  paths: readonly { readonly root: number; readonly path: string }[],
): readonly Lock[] {
  const inGits = roots.map((root) => pathsInGit(root.path));
  const locks = new Map<string, Lock>();
  for (const { root, path } of paths) {
    const inGit = inGits[root]?.(path);
    if (inGit === undefined || !lockable.test(inGit) || inGit.endsWith(".lock")) continue;
    // A lock file needs an existing directory; a new directory is not yet used by any git.
    if (existsSync(join(roots[root]?.path ?? "", dirname(path))))
      locks.set(`${root}:${path}`, { root, path: `${path}.lock` });
  }
  return [...locks.values()];
}

const lockable =
  /^(?:worktrees\/[^/]+\/)?(?:index|HEAD|ORIG_HEAD|packed-refs|config|config\.worktree|shallow|refs\/.+)$/;

/** Takes all locks, or throws `NotCommitted` (`git_locked`) and holds none. The journal that names them must be on disk. */
export function takeLocks(transaction: Transaction, locks: readonly Lock[]): void {
  for (const [index, lock] of locks.entries()) {
    const root = rootOf(transaction, lock);
    try {
      using parent = parentOf(root, lock);
      const own = ownLock(root);
      if (!existsSync(own)) writeFileSync(own, "", { mode: 0o600 });
      linkSync(own, parent.entry(basename(lock.path)));
    } catch (error) {
      releaseLocks(transaction, locks.slice(0, index));
      if (!hasCode(error, "EEXIST")) throw error;
      const reason = "another git is at work there, or one that was killed left this file";
      throw new NotCommitted("git_locked", [{ root: root.path, path: lock.path, reason }]);
    }
  }
}

/** Removes the locks that belong to this transaction. */
export function releaseLocks(transaction: Transaction, locks: readonly Lock[]): void {
  for (const lock of locks) {
    const root = rootOf(transaction, lock);
    const own = statIfPresent(ownLock(root));
    if (own === undefined) continue;
    try {
      using parent = parentOf(root, lock);
      const path = parent.entry(basename(lock.path));
      if (statIfPresent(path)?.ino === own.ino) unlinkSync(path);
    } catch (error) {
      if (!hasCode(error, "ENOENT") && !hasCode(error, "path_changed") && !hasCode(error, "ENOTDIR")) throw error;
    }
  }
}

function rootOf({ roots }: Transaction, { root }: Lock): StagedRoot {
  const found = roots[root];
  if (found === undefined) throw new RangeError(`There is no root ${root}.`);
  return found;
}

function parentOf(root: StagedRoot, { path }: Lock): HeldDirectory {
  const parent = dirname(path);
  return holdDirectory(root, parent === "." ? [] : parent.split("/"));
}

/** The file whose further names (hard links) the locks are: so the locks are recognised again after a kill. */
function ownLock({ directory }: StagedRoot): string {
  return join(directory, "lock");
}
