import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "@gennai/protocol/is-within";

/** Where a repository is. */
export interface RepositoryPaths {
  readonly workTree: string;
  /** Git's private list of ignore patterns. */
  readonly excludeFile: string;
  /** Directories that git writes to: the one that all work trees share, then this work tree's own. */
  readonly writable: readonly string[];
}

/**
 * Undefined if the workspace is in no repository, or the repository is uncertain. A repository
 * around the user's home does not count for a directory in it.
 */
export function repositoryPaths(workspaceRoot: string, home: string | undefined): RepositoryPaths | undefined {
  for (let directory = workspaceRoot; ; directory = dirname(directory)) {
    if (directory !== workspaceRoot && home !== undefined && isWithin(home, { directory })) return undefined;
    const found = repositoryAt(join(directory, ".git"));
    if (found !== undefined) return found;
    if (dirname(directory) === directory) return undefined;
  }
}

/** The repository whose data this `.git` is or names; undefined if that is uncertain. */
export function repositoryAt(path: string): RepositoryPaths | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() && existsSync(join(path, "HEAD"))) return mainRepository(path);
  if (stat?.isFile()) return linkedWorktree(path);
  return undefined;
}

function mainRepository(git: string): RepositoryPaths {
  return { workTree: dirname(git), excludeFile: join(git, "info", "exclude"), writable: [git] };
}

/**
 * A worktree's `.git` is a file that names its data elsewhere. The data is writable only if it refers back to this worktree: a
 * file put into the workspace must not open another repository.
 */
function linkedWorktree(pointer: string): RepositoryPaths | undefined {
  try {
    const named = /^gitdir: (.+)$/.exec(readFileSync(pointer, "utf8").trim())?.[1];
    if (named === undefined) return undefined;
    const data = realpathSync(resolve(dirname(pointer), named));
    if (realpathSync(readFileSync(join(data, "gitdir"), "utf8").trim()) !== realpathSync(pointer)) return undefined;
    const common = realpathSync(resolve(data, readFileSync(join(data, "commondir"), "utf8").trim()));
    if (dirname(dirname(data)) !== common) return undefined;
    return { ...mainRepository(common), workTree: dirname(pointer), writable: [common, data] };
  } catch {
    return undefined;
  }
}
