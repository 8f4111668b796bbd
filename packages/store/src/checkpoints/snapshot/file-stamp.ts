import type { Stats } from "node:fs";

/** What tells that a file was touched. */
export type FileStamp = Pick<Stats, "size" | "mtimeMs" | "ctimeMs" | "ino" | "mode">;

/** A file that changed this short before it was looked at may change again within the same tick of the disk's clock. */
const tickMs = 50;
const coarseTickMs = 2_500;

export function stampOf({ size, mtimeMs, ctimeMs, ino, mode }: Stats): FileStamp {
  return { size, mtimeMs, ctimeMs, ino, mode };
}

export function isSameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.ino === other.ino &&
    one.mode === other.mode
  );
}

/**
 * Whether any later change must show in another stamp.
 * @param time before it was looked at, in milliseconds since the epoch
 */
export function isSettled({ mtimeMs, ctimeMs }: FileStamp, time: number): boolean {
  // A disk that counts whole seconds.
  const isCoarse = ctimeMs % 1000 === 0;
  return Math.max(mtimeMs, ctimeMs) < time - (isCoarse ? coarseTickMs : tickMs);
}
