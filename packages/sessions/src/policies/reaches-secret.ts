import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { realPath } from "@gennai/machine/sandbox/host/search-path";

/** More entries than this below a directory are not looked at: a person is asked. */
const maxEntries = 20_000;

/**
 * Whether a path leads to a file with secrets, or is a directory with one below, links in it included. What git keeps of a
 * repository counts as such: its settings may hold logins.
 *
 * @param path absolute
 * @param isSecret by an absolute path
 * @param isPattern of names in the last directory, of which none may be a link: nobody sees where those lead
 */
export function reachesSecret(path: string, isSecret: (path: string) => boolean, isPattern = false): boolean {
  if (isPattern) return hasLinks(dirname(path)) || reachesSecret(dirname(path), isSecret);
  const real = realPath(path);
  if (real === undefined) return false;
  if (isSecret(real)) return true;
  if (lstatSync(real, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  const directories = [real];
  let seen = 0;
  for (const directory of directories) {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      seen += 1;
      const at = join(directory, entry.name);
      if (seen > maxEntries || entry.name === ".git" || isSecret(at)) return true;
      if (entry.isDirectory()) directories.push(at);
      else if (entry.isSymbolicLink() && isSecret(realPath(at) ?? at)) return true;
    }
  }
  return false;
}

/** On the way to a directory, or in it. */
function hasLinks(directory: string): boolean {
  const real = realPath(directory);
  if (real === undefined) return false;
  return real !== directory || readdirSync(real, { withFileTypes: true }).some((entry) => entry.isSymbolicLink());
}
