import { diffLines } from "@gennai/protocol/diff/line-diff";
import { type LineEdit, splitLines } from "@gennai/protocol/diff/line-edit";
import type { ChangeOperation, Hunk } from "@gennai/protocol/model/session/proposal";

export interface UnifiedDiff {
  /** Headers and hunks, LF after each line; only the headers if nothing differs. */
  readonly text: string;
  /** The same hunks, without remarks about a missing newline at the end. */
  readonly hunks: readonly Hunk[];
}

/**
 * The difference of two texts in unified format, with `a/` and `b/` before the path, and `/dev/null` for a missing file. A
 * comparison that takes longer than `timeoutMs` results in larger hunks, never in wrong ones.
 */
export function unifiedDiff(
  change: {
    readonly path: string;
    readonly operation: ChangeOperation;
    readonly oldText: string;
    readonly newText: string;
  },
  options: { readonly context?: number; readonly timeoutMs?: number } = {},
): UnifiedDiff {
  const context = options.context ?? 3;
  const { path, operation, oldText, newText } = change;
  const diff = diffLines(oldText, newText, { timeoutMs: options.timeoutMs ?? 250 });
  // Lines before the window are equal in both texts, so it is enough to split what follows.
  const before = Math.min(context, diff.headLines);
  const windowStart = stepBack(oldText, diff.head, before);
  const skipped = diff.headLines - before;
  const lastEdit = diff.edits.at(-1);
  const oldLines = linesOfWindow(
    oldText,
    windowStart,
    lastEdit === undefined ? 0 : lastEdit.oldStart + lastEdit.oldCount + context - skipped,
  );
  const newLines = linesOfWindow(
    newText,
    windowStart,
    lastEdit === undefined ? 0 : lastEdit.newStart + lastEdit.newCount + context - skipped,
  );

  const output: string[] = [
    `--- ${operation === "create" ? "/dev/null" : label("a", path)}`,
    `+++ ${operation === "delete" ? "/dev/null" : label("b", path)}`,
  ];
  const hunks: Hunk[] = [];
  for (const group of groups(diff.edits, context)) {
    const hunk = makeHunk(`h${hunks.length + 1}`, group, oldLines, newLines, skipped, context);
    hunks.push({ ...hunk, lines: hunk.lines.map(withoutLineFeed) });
    const { oldRange, newRange } = hunk;
    output.push(`@@ -${oldRange.start},${oldRange.count} +${newRange.start},${newRange.count} @@`);
    for (const line of hunk.lines) {
      output.push(withoutLineFeed(line));
      if (!line.endsWith("\n")) output.push("\\ No newline at end of file");
    }
  }
  return { text: `${output.join("\n")}\n`, hunks };
}

/** A name with a quote or backslash is written as git writes it, so that programs can read the header. */
function label(side: "a" | "b", path: string): string {
  const name = `${side}/${path}`;
  return /["\\]/.test(name) ? JSON.stringify(name) : name;
}

function stepBack(text: string, offset: number, lines: number): number {
  let at = offset;
  for (let step = 0; step < lines; step += 1) at = at < 2 ? 0 : text.lastIndexOf("\n", at - 2) + 1;
  return at;
}

/** At most `count` lines of the text from an offset on. */
function linesOfWindow(text: string, from: number, count: number): readonly string[] {
  let end = from;
  for (let line = 0; line < count && end < text.length; line += 1) {
    const at = text.indexOf("\n", end);
    end = at === -1 ? text.length : at + 1;
  }
  return splitLines(text.slice(from, end));
}

/** Edits whose context would overlap share a hunk. */
function groups(edits: readonly LineEdit[], context: number): readonly (readonly LineEdit[])[] {
  const result: LineEdit[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const edit of edits) {
    const last = result.at(-1);
    if (last !== undefined && edit.oldStart - end <= 2 * context) last.push(edit);
    else result.push([edit]);
    end = edit.oldStart + edit.oldCount;
  }
  return result;
}

function makeHunk(
  id: string,
  group: readonly LineEdit[],
  oldLines: readonly string[],
  newLines: readonly string[],
  skipped: number,
  context: number,
): Hunk {
  const first = group[0];
  const last = group.at(-1);
  if (first === undefined || last === undefined) throw new RangeError("A hunk needs an edit.");
  const index = (line: number) => line - 1 - skipped;
  const oldStart = Math.max(0, index(first.oldStart) - context);
  const newStart = Math.max(0, index(first.newStart) - context);
  const oldEnd = Math.min(oldLines.length, index(last.oldStart) + last.oldCount + context);
  const newEnd = Math.min(newLines.length, index(last.newStart) + last.newCount + context);
  const lines: string[] = [];
  let at = oldStart;
  for (const edit of group) {
    for (; at < index(edit.oldStart); at += 1) lines.push(` ${oldLines[at]}`);
    for (; at < index(edit.oldStart) + edit.oldCount; at += 1) lines.push(`-${oldLines[at]}`);
    for (let added = 0; added < edit.newCount; added += 1) lines.push(`+${newLines[index(edit.newStart) + added]}`);
  }
  for (; at < oldEnd; at += 1) lines.push(` ${oldLines[at]}`);
  const range = (start: number, end: number) => ({
    start: start + skipped + (end === start ? 0 : 1),
    count: end - start,
  });
  return { id, oldRange: range(oldStart, oldEnd), newRange: range(newStart, newEnd), lines };
}

function withoutLineFeed(line: string): string {
  return line.endsWith("\n") ? line.slice(0, -1) : line;
}
