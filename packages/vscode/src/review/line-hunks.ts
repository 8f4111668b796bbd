import { diffLines } from "@gennai/protocol/diff/line-diff";
import { splitLines } from "@gennai/protocol/diff/line-edit";

/** Lines [start, end) of a text, 0-based; empty: the place before line `start`. */
export interface LineSpan {
  readonly start: number;
  readonly end: number;
}

/** A place where two texts differ, with the lines of each. At most one of the two is empty. */
export interface LineHunk {
  readonly old: LineSpan;
  readonly fresh: LineSpan;
}

/** Most milliseconds to look for small differences; after that, hunks are larger. */
const timeoutMs = 250;

/** Lines with one line feed each, whatever ends them in the text; the last one has none if the text ends without. */
export function linesOf(text: string): readonly string[] {
  return splitLines(text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n"));
}

/** The differences of two texts, in order. Between hunks there is at least one equal line. */
export function lineHunks(old: readonly string[], fresh: readonly string[]): readonly LineHunk[] {
  const { edits } = diffLines(old.join(""), fresh.join(""), { timeoutMs });
  return edits.map(({ oldStart, oldCount, newStart, newCount }) => ({
    old: { start: oldStart - 1, end: oldStart - 1 + oldCount },
    fresh: { start: newStart - 1, end: newStart - 1 + newCount },
  }));
}

/**
 * Positions of lines after an edit: the same lines, shifted. undefined: they were edited or, for an empty span, a neighbouring
 * line was.
 * @param spans ascending, not touching each other
 */
export function placeSpans(
  spans: readonly LineSpan[],
  before: readonly string[],
  now: readonly string[],
): readonly (LineSpan | undefined)[] {
  const edits = lineHunks(before, now);
  let at = 0;
  let shift = 0;
  return spans.map((span) => {
    for (let edit = edits[at]; edit !== undefined && isBefore(edit.old, span); edit = edits[at]) {
      shift = edit.fresh.end - edit.old.end;
      at++;
    }
    const next = edits[at];
    if (next !== undefined && touches(next.old, span)) return undefined;
    return { start: span.start + shift, end: span.end + shift };
  });
}

/** The text with other lines in place of a span. Every line but the last gets a line feed. */
export function withLines(lines: readonly string[], span: LineSpan, put: readonly string[]): readonly string[] {
  const rest = lines.slice(span.end);
  const last = put.at(-1);
  const isEnded = last === undefined || last.endsWith("\n") || rest.length === 0;
  const ended = isEnded ? put : [...put.slice(0, -1), `${last}\n`];
  return [...lines.slice(0, span.start), ...ended, ...rest];
}

function isBefore(edit: LineSpan, span: LineSpan): boolean {
  return span.start === span.end ? edit.end < span.start : edit.end <= span.start;
}

function touches(edit: LineSpan, span: LineSpan): boolean {
  return span.start === span.end ? edit.start <= span.start : edit.start < span.end;
}
