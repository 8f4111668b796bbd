import { type Dirent, readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { isWithin } from "@gennai/protocol/is-within";
import { UnprotectedWorkspace } from "./unprotected-workspace.ts";

/**
 * Absolute paths, below `root`, of the files in a directory whose content is not for the agent; git's own directories are treated
 * like any other. Throws `UnprotectedWorkspace` for a name that cannot be passed on.
 */
export function zeroAccessFiles(root: string, entries: readonly Dirent[]): readonly string[] {
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : secretAt(root, entry)));
}

/** Absolute paths of the links in a directory that are named as secrets. */
export function secretLinks(root: string, entries: readonly Dirent[]): readonly string[] {
  return entries
    .filter((entry) => entry.isSymbolicLink())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => secretPath(relative(root, path)) !== undefined && !isGitsOwn(path));
}

function secretAt(root: string, entry: Dirent): readonly string[] {
  const path = join(entry.parentPath, entry.name);
  const isSecret =
    (secretPath(relative(root, path)) !== undefined && !isGitsOwn(path)) ||
    (entry.name === ".npmrc" && holdsLogin(path));
  if (!isSecret) return [];
  if (path.includes("\uFFFD"))
    throw new UnprotectedWorkspace(`${path} holds a secret and its name is not UTF-8. Give it another name.`);
  if (!entry.isSymbolicLink()) return [path];
  try {
    const target = realpathSync(path);
    return isWithin(target, { directory: root }) ? [target] : [];
  } catch {
    return [];
  }
}

/** Whether a registry's settings contain a login: builds need the settings, but not the login. */
function holdsLogin(file: string): boolean {
  try {
    return /_auth|_password|token/i.test(readFileSync(file, "utf8"));
  } catch {
    return true;
  }
}

/** True for git's data of a branch named like a secret: the id of an object, or lines that begin with two ids. */
function isGitsOwn(path: string): boolean {
  if (!/\/\.git\/(?:.*\/)?(?:refs|logs)\//.test(path)) return false;
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    return lines.every((line) => /^(?:|[0-9a-f]{40,64}|ref: refs\/\S+|[0-9a-f]{40,64} [0-9a-f]{40,64} .*)$/.test(line));
  } catch {
    return false;
  }
}
