import { lstat, realpath } from "node:fs/promises";

/** Absolute path without links. Rejects with an error of code `ENOENT` if nothing is there. */
export async function realPathOf(path: string): Promise<string> {
  return realpath(path);
}

export async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}
