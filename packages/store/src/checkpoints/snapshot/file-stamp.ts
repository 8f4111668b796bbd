import type { Stats } from "node:fs";

/** Attributes that show that a file was touched. */
export type FileStamp = Pick<Stats, "size" | "mtimeMs" | "ctimeMs" | "ino" | "mode">;

/** Milliseconds. A file changed so shortly before the look may change again within the same tick of the disk's clock. */
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
 * Whether every later change must show in a different stamp.
 * @param time before the look, in milliseconds since the epoch
 */
export function isSettled({ mtimeMs, ctimeMs }: FileStamp, time: number): boolean {
  // The disk stores only whole seconds.
  const isCoarse = ctimeMs % 1000 === 0;
  return Math.max(mtimeMs, ctimeMs) < time - (isCoarse ? coarseTickMs : tickMs);
}
