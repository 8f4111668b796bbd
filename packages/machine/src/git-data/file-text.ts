import { readFileSync, statSync } from "node:fs";

/** The text of a file of git's data; undefined if it is missing, larger than `maxBytes`, or no file: a named pipe would block. */
export function fileText(path: string, maxBytes: number): string | undefined {
  try {
    // Most of these files are usually missing, and an exception costs more than this call.
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isFile() || stat.size > maxBytes) return undefined;
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
