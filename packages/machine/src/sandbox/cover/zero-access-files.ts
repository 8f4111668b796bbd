import { type Dirent, readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { isWithin } from "../host/host-layout.ts";
import { UnprotectedWorkspace } from "./unprotected-workspace.ts";

/**
 * Those names in a directory whose content is not for the agent, as absolute paths of real files below `root`; git's own
 * directories hold them like any other. Throws `UnprotectedWorkspace` for one that cannot be named.
 */
export function zeroAccessFiles(root: string, entries: readonly Dirent[]): readonly string[] {
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : secretAt(root, entry)));
}

/** Those names in a directory that are links and named as secrets, as absolute paths of the links. */
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
    return isWithin(target, root) ? [target] : [];
  } catch {
    return [];
  }
}

/** A registry's settings are needed to build; a login among them is not. */
function holdsLogin(file: string): boolean {
  try {
    return /_auth|_password|token/i.test(readFileSync(file, "utf8"));
  } catch {
    return true;
  }
}

/** What git keeps of a branch that is named like a secret: an object's name, or lines that begin with two of them. */
function isGitsOwn(path: string): boolean {
  if (!/\/\.git\/(?:.*\/)?(?:refs|logs)\//.test(path)) return false;
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    return lines.every((line) => /^(?:|[0-9a-f]{40,64}|ref: refs\/\S+|[0-9a-f]{40,64} [0-9a-f]{40,64} .*)$/.test(line));
  } catch {
    return false;
  }
}
