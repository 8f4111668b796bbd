import { splitLines } from "@gennai/protocol/diff/line-edit";
import { type DiffRow, diffRows } from "./diff-rows.ts";

/** Unchanged lines that are shown before and after a change. */
const context = 3;

/** What differs between two texts. */
export interface FileDiff {
  /** Runs of rows, each with the lines around its changes; the lines between two runs are the same on both sides. */
  readonly hunks: readonly (readonly DiffRow[])[];
  readonly added: number;
  readonly removed: number;
}

/** Compares two texts line by line. */
export function fileDiff(before: string, after: string): FileDiff {
  const rows = diffRows(splitLines(before), splitLines(after), 1, 1);
  let added = 0;
  let removed = 0;
  for (const row of rows) {
    if (row.type === "context") continue;
    if (row.fresh !== undefined) added++;
    if (row.old !== undefined) removed++;
  }
  return { hunks: hunksOf(rows), added, removed };
}

/** Number of the first changed line in the new text, from 1; for pure removals, of the line that took their place. */
export function firstChangedLine({ hunks }: FileDiff): number {
  let line = 1;
  for (const row of hunks[0] ?? []) {
    if (row.type !== "context") return row.fresh?.number ?? line;
    line = row.fresh.number + 1;
  }
  return line;
}

/** Groups changes with the lines around them, and leaves out all other lines. */
function hunksOf(rows: readonly DiffRow[]): readonly (readonly DiffRow[])[] {
  const hunks: DiffRow[][] = [];
  let end = -1;
  for (const [at, row] of rows.entries()) {
    if (row.type === "context") continue;
    const from = Math.max(0, at - context, end);
    if (from > end || hunks.length === 0) hunks.push([]);
    const to = Math.min(rows.length, at + context + 1);
    hunks.at(-1)?.push(...rows.slice(Math.max(from, end), to));
    end = Math.max(end, to);
  }
  return hunks;
}
