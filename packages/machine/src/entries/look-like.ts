import { chmodSync, lstatSync, utimesSync } from "node:fs";

/** Copies mode and time of the real entry. Does nothing if that is gone. */
export function lookLike(real: string, path: string): void {
  const stat = lstatSync(real, { throwIfNoEntry: false });
  if (stat === undefined) return;
  utimesSync(path, stat.atimeMs / 1000, stat.mtimeMs / 1000);
  chmodSync(path, stat.mode & 0o7777);
}
