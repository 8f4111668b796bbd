import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The path within git's own directory, e.g. `refs/heads/main`; undefined for a path outside of one.
 * @param path relative to the root, with `/`
 */
export type PathInGit = (path: string) => string | undefined;

/** @param root real path of a work tree, or of git's directory itself */
export function pathsInGit(root: string): PathInGit {
  // Checked once for many paths.
  const isGit = isGitDirectory(root);
  return (path) => {
    const at = `/${path}/`.lastIndexOf("/.git/");
    if (at < 0 && !isGit) return undefined;
    const inGit = at < 0 ? path : path.slice(at + ".git/".length);
    return inGit.startsWith("modules/") ? pathInModule(root, path, inGit) : inGit;
  };
}

/** Submodules have directories like git's own, whose names may contain slashes. */
function pathInModule(root: string, path: string, inGit: string): string {
  const git = path.slice(0, path.length - inGit.length);
  for (let end = inGit.lastIndexOf("/"); end > "modules".length; end = inGit.lastIndexOf("/", end - 1)) {
    if (isGitDirectory(join(root, git + inGit.slice(0, end)))) return inGit.slice(end + 1);
  }
  return inGit;
}

/** True for the index of a work tree, also of a linked one. @param path relative to `root` */
export function isGitIndex(root: string, path: string): boolean {
  return /^(?:worktrees\/[^/]+\/)?index$/.test(pathsInGit(root)(path) ?? "");
}

/** Also true for the index of a new submodule; other files of that name begin differently. @param path relative to `root` */
export function mayBeIndex(root: string, path: string): boolean {
  return /(?:^|\/)index$/.test(path) && pathsInGit(root)(path) !== undefined;
}

/** Whether a directory is a repository's data. */
export function isGitDirectory(path: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(path, name)));
}
