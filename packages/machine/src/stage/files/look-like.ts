import { chmodSync, lstatSync, utimesSync } from "node:fs";

/** Mode and time of the real one. One that went meanwhile needs none. */
export function lookLike(real: string, path: string): void {
  const stat = lstatSync(real, { throwIfNoEntry: false });
  if (stat === undefined) return;
  utimesSync(path, stat.atimeMs / 1000, stat.mtimeMs / 1000);
  chmodSync(path, stat.mode & 0o7777);
}
