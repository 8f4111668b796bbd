import { redactionMarker } from "@gennai/governance/redaction";

/** Range of a secret in a text, in UTF-16 units; `end` is exclusive. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  /** Name of the rule that found it, as in the mask. */
  readonly rule: string;
}

/** Ranges in order and without overlap: overlapping ones are joined under the name of the first. */
export function mergeRanges(ranges: readonly SecretRange[]): readonly SecretRange[] {
  const sorted = ranges.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: SecretRange[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last === undefined || range.start >= last.end) merged.push(range);
    else if (range.end > last.end) merged[merged.length - 1] = { ...last, end: range.end };
  }
  return merged;
}

/** The parts of the ranges after an offset, relative to it. */
export function rangesBehind(ranges: readonly SecretRange[], from: number): readonly SecretRange[] {
  return ranges
    .filter(({ end }) => end > from)
    .map(({ start, end, rule }) => ({ start: Math.max(0, start - from), end: end - from, rule }));
}

/** Finds the secrets of a whole text. */
export type FindSecrets = (text: string) => Promise<readonly SecretRange[]>;

/** The text with every range replaced by its mask. Ranges are in order and do not overlap. */
export function mask(text: string, ranges: readonly SecretRange[]): string {
  if (ranges.length === 0) return text;
  let result = "";
  let at = 0;
  for (const { start, end, rule } of ranges) {
    result += `${text.slice(at, start)}${redactionMarker}${rule}]`;
    at = end;
  }
  return result + text.slice(at);
}
