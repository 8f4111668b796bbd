import { chmodSync, lstatSync, renameSync } from "node:fs";

/** Renames an entry, replacing a file of that name. A directory that its owner may not write to is made writable meanwhile. */
export function moveEntry<Path extends string | Buffer>(from: Path, to: Path): void {
  const stat = lstatSync(from);
  const mode = stat.mode & 0o7777;
  // Moving a directory writes to it (its `..` changes).
  const isClosed = stat.isDirectory() && (mode & 0o200) === 0;
  if (isClosed) chmodSync(from, mode | 0o200);
  renameSync(from, to);
  if (isClosed) chmodSync(to, mode);
}
