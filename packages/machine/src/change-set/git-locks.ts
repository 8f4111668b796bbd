import { existsSync, linkSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { statIfPresent } from "../entries/look-at-entry.ts";
import { pathsInGit } from "../git-data/git-path.ts";
import { hasCode } from "../system-error.ts";
import { type HeldDirectory, holdDirectory } from "../workspace/files/held-directory.ts";
import { splitRelative } from "../workspace/paths/split-relative.ts";
import { NotCommitted } from "./not-committed.ts";
import { type ChangeSet, rootOf, type SetJournal, type SetRoot } from "./set-journal.ts";

type Lock = SetJournal["locks"][number];

/** The lock files that git itself would take to change these, each once. */
export function locksFor(
  { roots }: ChangeSet,
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
export function takeLocks(set: ChangeSet, locks: readonly Lock[]): void {
  for (const [index, lock] of locks.entries()) {
    const root = rootOf(set, lock);
    try {
      using parent = parentOf(root, lock);
      const own = ownLock(root);
      if (!existsSync(own)) writeFileSync(own, "", { mode: 0o600 });
      linkSync(own, parent.entry(basename(lock.path)));
    } catch (error) {
      releaseLocks(set, locks.slice(0, index));
      if (!hasCode(error, "EEXIST")) throw error;
      const reason = "another git is at work there, or one that was killed left this file";
      throw new NotCommitted("git_locked", [{ root: root.path, path: lock.path, reason }]);
    }
  }
}

/** Removes the locks that belong to this set. */
export function releaseLocks(set: ChangeSet, locks: readonly Lock[]): void {
  for (const lock of locks) {
    const root = rootOf(set, lock);
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

function parentOf(root: SetRoot, { path }: Lock): HeldDirectory {
  return holdDirectory(root, splitRelative(path).parents);
}

/** The file whose further names (hard links) the locks are: so the locks are recognised again after a kill. */
function ownLock({ path, directory }: SetRoot): string {
  if (directory === undefined) throw new RangeError(`${path} has no place for locks.`);
  return join(directory, "lock");
}
