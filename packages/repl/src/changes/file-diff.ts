import { type DiffRow, diffRows, splitLines } from "../review/diff/diff-rows.ts";

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
  const [old, fresh] = [splitLines(before), splitLines(after)];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const first = Math.max(0, head - context);
  const last = Math.max(0, tail - context);
  const rows =
    head === old.length && head === fresh.length
      ? []
      : diffRows(old.slice(first, old.length - last), fresh.slice(first, fresh.length - last), first + 1, first + 1);
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
