import { keptLimits } from "@gennai/stage/commit/way-back";
import type { StageEffect } from "@gennai/stage/observe/effect";

/**
 * The effects of a command after which what was there before is nowhere: it is no file, cannot be read, or all of it is more than
 * is kept. What was moved, or has the same content, still is.
 */
export function losingContent(
  effects: readonly StageEffect[],
  maxBytes: number = keptLimits.bytes,
): ReadonlySet<StageEffect> {
  const replaced = effects.filter(isReplaced);
  const bytes = replaced.reduce((sum, { before }) => sum + (before?.type === "file" ? before.size : 0), 0);
  return new Set(bytes > maxBytes ? replaced : replaced.filter(isUnreadable));
}

function isReplaced({ before, after, movedTo }: StageEffect): boolean {
  if (before === undefined || movedTo !== undefined) return false;
  if (before.type === "other") return after?.type !== "other";
  if (before.type !== "file") return false;
  return before.sha256 === undefined || after?.type !== "file" || after.sha256 !== before.sha256;
}

function isUnreadable({ before }: StageEffect): boolean {
  return before?.type === "other" || (before?.type === "file" && before.sha256 === undefined);
}
