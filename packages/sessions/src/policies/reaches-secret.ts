import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { realPath } from "@gennai/machine/host/way-to";

/** Maximum entries examined below a directory; with more, a user is asked. */
const maxEntries = 20_000;

/**
 * Whether a path leads to a file with secrets, or to a directory that contains one, including through links. Git's repository
 * data counts as secret: its settings may contain logins.
 *
 * @param path absolute
 * @param isSecret gets an absolute path
 * @param isPattern the last part is a pattern of names, none of which may be a link, because its target is unknown
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

/** Links on the way to a directory, or in it. */
function hasLinks(directory: string): boolean {
  const real = realPath(directory);
  if (real === undefined) return false;
  return real !== directory || readdirSync(real, { withFileTypes: true }).some((entry) => entry.isSymbolicLink());
}
