import { type DiffRow, diffRows, splitLines } from "../review/diff/diff-rows.ts";

/** Lines around a change that are shown with it. */
const context = 3;

/** What differs between two texts. */
export interface FileDiff {
  /** Runs of rows, each with the lines around its changes; what lies between them is the same on both sides. */
  readonly hunks: readonly (readonly DiffRow[])[];
  readonly added: number;
  readonly removed: number;
}

/** Compares two texts line by line. Texts that differ in thousands of lines are shown as one removed and one added. */
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

/** Line of the first change in the new text, from 1; for pure removals, the line that took their place. */
export function firstChangedLine({ hunks }: FileDiff): number {
  let line = 1;
  for (const row of hunks[0] ?? []) {
    if (row.type !== "context") return row.fresh?.number ?? line;
    line = row.fresh.number + 1;
  }
  return line;
}

/** Cuts out what is far from every change. */
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
