import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Where in git's own directory a path lies, e.g. `refs/heads/main`; undefined for a path that is in none.
 * @param path relative to the root, with `/`
 */
export type PathInGit = (path: string) => string | undefined;

/** @param root real path of a work tree, or of git's directory itself */
export function pathsInGit(root: string): PathInGit {
  // Once for many paths.
  const isGit = isGitDirectory(root);
  return (path) => {
    const at = `/${path}/`.lastIndexOf("/.git/");
    if (at < 0 && !isGit) return undefined;
    const inGit = at < 0 ? path : path.slice(at + ".git/".length);
    return inGit.startsWith("modules/") ? pathInModule(root, path, inGit) : inGit;
  };
}

/** Submodules have directories like git's own, by names with slashes. */
function pathInModule(root: string, path: string, inGit: string): string {
  const git = path.slice(0, path.length - inGit.length);
  for (let end = inGit.lastIndexOf("/"); end > "modules".length; end = inGit.lastIndexOf("/", end - 1)) {
    if (isGitDirectory(join(root, git + inGit.slice(0, end)))) return inGit.slice(end + 1);
  }
  return inGit;
}

/** The index of a work tree, of a linked one as well. @param path relative to `root` */
export function isGitIndex(root: string, path: string): boolean {
  return /^(?:worktrees\/[^/]+\/)?index$/.test(pathsInGit(root)(path) ?? "");
}

/** Also of a submodule that is new. Other files begin in another way. @param path relative to `root` */
export function mayBeIndex(root: string, path: string): boolean {
  return /(?:^|\/)index$/.test(path) && pathsInGit(root)(path) !== undefined;
}

function isGitDirectory(path: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(path, name)));
}
