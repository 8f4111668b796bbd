import { lineAnchors } from "@gennai/client/review/line-anchors";
import type { Hunk, LineRange } from "@gennai/protocol/model/session/proposal";
import { type ChangeObject, diffArrays, diffWordsWithSpace } from "diff";

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

/** Lines with their endings. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The lines of a range; none for an empty one. */
export function linesIn(lines: readonly string[], range: LineRange): readonly string[] {
  const start = range.count === 0 ? range.start : range.start - 1;
  return lines.slice(start, start + range.count);
}

/** True if the ranges of all hunks are within both texts, and the text between the hunks is the same. */
export function hunksFit(base: readonly string[], fresh: readonly string[], hunks: readonly Hunk[]): boolean {
  let oldAt = 0;
  let freshAt = 0;
  const same = (oldEnd: number, freshEnd: number): boolean => {
    if (oldEnd < oldAt || oldEnd > base.length || freshEnd > fresh.length) return false;
    if (oldEnd - oldAt !== freshEnd - freshAt) return false;
    for (let at = 0; at < oldEnd - oldAt; at++) {
      if (withoutEnding(base[oldAt + at]) !== withoutEnding(fresh[freshAt + at])) return false;
    }
    return true;
  };
  for (const { oldRange, newRange } of hunks) {
    const oldStart = oldRange.count === 0 ? oldRange.start : oldRange.start - 1;
    const freshStart = newRange.count === 0 ? newRange.start : newRange.start - 1;
    if (!same(oldStart, freshStart)) return false;
    oldAt = oldStart + oldRange.count;
    freshAt = freshStart + newRange.count;
    if (oldAt > base.length || freshAt > fresh.length) return false;
  }
  return same(base.length, fresh.length);
}

/** Most milliseconds to look for equal lines between anchors; after that, what is between two is shown as changed. */
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
  let oldAt = 0;
  let freshAt = 0;
  const oldLine = () => lineOf(old[oldAt] ?? "", oldStart + oldAt++);
  const freshLine = () => lineOf(fresh[freshAt] ?? "", freshStart + freshAt++);
  const change = (removed: number, added: number) => {
    for (let row = 0; row < Math.max(removed, added); row++) {
      rows.push({
        type: "changed",
        old: row < removed ? oldLine() : undefined,
        fresh: row < added ? freshLine() : undefined,
      });
    }
  };
  const deadline = performance.now() + timeoutMs;
  for (const anchor of [...lineAnchors(old, fresh), { old: old.length, fresh: fresh.length }]) {
    const [before, after] = [old.slice(oldAt, anchor.old), fresh.slice(freshAt, anchor.fresh)];
    let removed = 0;
    let added = 0;
    for (const part of changedParts(before, after, deadline)) {
      if (part.removed) removed += part.count;
      else if (part.added) added += part.count;
      else {
        change(removed, added);
        removed = 0;
        added = 0;
        for (let count = 0; count < part.count; count++) {
          rows.push({ type: "context", old: oldLine(), fresh: freshLine() });
        }
      }
    }
    change(removed, added);
    if (anchor.old < old.length) rows.push({ type: "context", old: oldLine(), fresh: freshLine() });
  }
  return rows;
}

type Part = Pick<ChangeObject<string[]>, "removed" | "added" | "count">;

function changedParts(old: readonly string[], fresh: readonly string[], deadline: number): readonly Part[] {
  const whole: readonly Part[] = [
    { removed: true, added: false, count: old.length },
    { removed: false, added: true, count: fresh.length },
  ];
  if (old.length === 0 || fresh.length === 0) return whole;
  return diffArrays([...old], [...fresh], { timeout: Math.max(0, deadline - performance.now()) }) ?? whole;
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

function withoutEnding(line: string | undefined): string {
  return (line ?? "").replace(/\r?\n$/, "");
}
