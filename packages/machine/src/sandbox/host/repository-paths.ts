import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Which parts of git's data a command may change: it may commit, but not change what git runs. */
export interface RepositoryPaths {
  readonly workTree: string;
  /** Git's private list of ignore patterns. */
  readonly excludeFile: string;
  /** Directories that git writes to. Each is its own mount, so that it cannot be renamed. */
  readonly writable: readonly string[];
  /** Paths to mount read-only if they exist. */
  readonly readOnly: readonly string[];
  /** Directories that are shown empty and read-only if they do not exist. */
  readonly keptEmpty: readonly string[];
  /** Files that would lead git to another configuration: removed if a command created them. */
  readonly mayNotAppear: readonly string[];
}

/**
 * Undefined if the workspace is in no repository, or the repository is uncertain; then git's data is read-only. A repository
 * around the user's home does not count for a directory in it.
 */
export function repositoryPaths(workspaceRoot: string, home: string | undefined): RepositoryPaths | undefined {
  for (let directory = workspaceRoot; ; directory = dirname(directory)) {
    if (directory !== workspaceRoot && home !== undefined && (home === directory || home.startsWith(`${directory}/`)))
      return undefined;
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
  return {
    workTree: dirname(git),
    excludeFile: join(git, "info", "exclude"),
    writable: [git],
    readOnly: ["config", "modules", "worktrees", "config.worktree", "commondir"].map((name) => join(git, name)),
    keptEmpty: [join(git, "hooks")],
    mayNotAppear: ["config.worktree", "commondir"].map((name) => join(git, name)),
  };
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
    const main = mainRepository(common);
    const worktrees = join(common, "worktrees");
    const siblings = readdirSync(worktrees).map((name) => join(worktrees, name));
    return {
      ...main,
      workTree: dirname(pointer),
      writable: [common, data],
      // A mount over all worktrees would cover this one, which must stay writable.
      readOnly: [
        ...[...main.readOnly, ...siblings].filter((path) => path !== worktrees && path !== data),
        pointer,
        // HEAD and its log belong to the other working tree.
        ...["HEAD", "logs/HEAD"].map((name) => join(common, name)),
        ...["commondir", "gitdir", "config.worktree"].map((name) => join(data, name)),
      ],
      mayNotAppear: [...main.mayNotAppear, join(data, "config.worktree")],
    };
  } catch {
    return undefined;
  }
}
