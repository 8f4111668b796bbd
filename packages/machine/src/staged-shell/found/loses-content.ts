import type { StageEffect } from "../../stage/observe/effect.ts";

/** Bytes. Larger files are kept nowhere, in no snapshot either. */
export const maxKeptFile = 16 * 1024 * 1024;

/**
 * Whether what was there before an effect will be nowhere: neither kept for undo, nor in the tree. What was moved, or has the same
 * content, still is.
 */
export function losesContent({ before, after, movedTo }: StageEffect): boolean {
  if (before === undefined || movedTo !== undefined) return false;
  if (before.type === "other") return after?.type !== "other";
  if (before.type !== "file" || (before.sha256 !== undefined && before.size <= maxKeptFile)) return false;
  return before.sha256 === undefined || after?.type !== "file" || after.sha256 !== before.sha256;
}
