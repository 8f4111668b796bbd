import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** Paths of all files below a directory, relative to it, with `/`, sorted. Links are not followed and count as files. */
export function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}
