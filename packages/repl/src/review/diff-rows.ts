import { diffLines } from "@gennai/protocol/diff/line-diff";
import type { Hunk, LineRange } from "@gennai/protocol/model/session/proposal";
import { diffWordsWithSpace } from "diff";

/** A line of a file, with its 1-based number and without its line ending. */
export interface DiffLine {
  readonly number: number;
  readonly text: string;
  /** Text that ends the line: `\n`, `\r\n`, or empty at the end of a file without a newline. */
  readonly ending: string;
}

/** One row of a diff. A changed row has at least one side. */
export type DiffRow =
  | { readonly type: "context"; readonly old: DiffLine; readonly fresh: DiffLine }
  | { readonly type: "changed"; readonly old: DiffLine | undefined; readonly fresh: DiffLine | undefined };

/** A part of a changed line; `changed` parts do not occur on the other side. */
export interface LinePart {
  readonly text: string;
  readonly changed: boolean;
}

/** The lines of a range; none for an empty one. */
export function linesIn(lines: readonly string[], range: LineRange): readonly string[] {
  const start = range.count === 0 ? range.start : range.start - 1;
  return lines.slice(start, start + range.count);
}

/** Most milliseconds to look for equal lines; after that, larger parts are shown as changed. */
const timeoutMs = 200;

/**
 * Old and new lines next to each other, however many they are.
 * @param oldStart number of the first old line, 1-based; likewise `freshStart`
 */
export function diffRows(
  old: readonly string[],
  fresh: readonly string[],
  oldStart: number,
  freshStart: number,
): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let [oldAt, freshAt] = [0, 0];
  const oldLine = () => lineOf(old[oldAt] ?? "", oldStart + oldAt++);
  const freshLine = () => lineOf(fresh[freshAt] ?? "", freshStart + freshAt++);
  const sameUntil = (end: number) => {
    while (oldAt < end) rows.push({ type: "context", old: oldLine(), fresh: freshLine() });
  };
  for (const edit of diffLines(old.join(""), fresh.join(""), { timeoutMs }).edits) {
    sameUntil(edit.oldStart - 1);
    for (let row = 0; row < Math.max(edit.oldCount, edit.newCount); row++) {
      rows.push({
        type: "changed",
        old: row < edit.oldCount ? oldLine() : undefined,
        fresh: row < edit.newCount ? freshLine() : undefined,
      });
    }
  }
  sameUntil(old.length);
  return rows;
}

/** Longest lines that are compared word by word; characters. */
const maxLine = 2_000;

/** What changed within a line; one part for each side if a comparison would not help. */
export function lineParts(
  old: string,
  fresh: string,
): { readonly old: readonly LinePart[]; readonly fresh: readonly LinePart[] } {
  const whole = { old: [{ text: old, changed: false }], fresh: [{ text: fresh, changed: false }] };
  if (old === fresh || old.length > maxLine || fresh.length > maxLine) return whole;
  const parts = diffWordsWithSpace(old, fresh, { timeout: 20 });
  if (parts === undefined) return whole;
  const kept = parts
    .filter(({ added, removed }) => !added && !removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  // Lines that share almost nothing: marks on everything would only be noise.
  if (kept * 4 < Math.max(old.trim().length, fresh.trim().length)) return whole;
  return {
    old: parts.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, changed: removed })),
    fresh: parts.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, changed: added })),
  };
}

/** Number of added and removed lines in hunks. */
export function hunkCounts(hunks: readonly Hunk[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.startsWith("+")) added++;
      else if (line.startsWith("-")) removed++;
    }
  }
  return { added, removed };
}

function lineOf(line: string, number: number): DiffLine {
  const ending = /\r?\n$/.exec(line)?.[0] ?? "";
  return { number, text: ending === "" ? line : line.slice(0, -ending.length), ending };
}
