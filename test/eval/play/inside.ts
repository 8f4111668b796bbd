import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { foldPath } from "@gennai/governance/command/words/fold-name";

/** Whether a recorded path stays below the folder it is of: with no way out or up, and nothing of git's own by any of its names. */
export function isInside(path: string): boolean {
  const parts = path.split(/[/\\]/);
  if (parts.some((part) => part === "" || part === "." || part === "..") || /^[a-z]:/i.test(path)) return false;
  return !foldPath(path).some((part) => part === ".git" || /^git~\d+$/.test(part));
}

/** The text of a file below a folder; undefined if it does not exist, or its path or a link in it leads out. */
export function textInside(folder: string, path: string): string | undefined {
  if (!isInside(path)) return undefined;
  try {
    const file = realpathSync(join(folder, path));
    const way = relative(realpathSync(folder), file);
    const leadsOut = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
    return leadsOut || !statSync(file).isFile() ? undefined : readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
