import { lineAnchors } from "@gennai/client/review/line-anchors";
import { diffArrays } from "diff";

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

/** Most milliseconds to look for small differences; after that, the whole differing part is one hunk. */
const timeoutMs = 250;

/** Lines with one line feed each, whatever ends them in the text; the last one has none if the text ends without. */
export function linesOf(text: string): readonly string[] {
  const plain = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  return plain.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The differences of two texts, in order. Between hunks there is at least one equal line. */
export function lineHunks(old: readonly string[], fresh: readonly string[]): readonly LineHunk[] {
  const shortest = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shortest && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const oldMiddle = old.slice(head, old.length - tail);
  const freshMiddle = fresh.slice(head, fresh.length - tail);
  const hunks: LineHunk[] = [];
  const deadline = performance.now() + timeoutMs;
  let from = { old: 0, fresh: 0 };
  for (const to of [...lineAnchors(oldMiddle, freshMiddle), { old: oldMiddle.length, fresh: freshMiddle.length }]) {
    const between = hunksBetween(oldMiddle.slice(from.old, to.old), freshMiddle.slice(from.fresh, to.fresh), deadline);
    for (const hunk of between) {
      hunks.push({ old: shifted(hunk.old, head + from.old), fresh: shifted(hunk.fresh, head + from.fresh) });
    }
    from = { old: to.old + 1, fresh: to.fresh + 1 };
  }
  return hunks;
}

function shifted({ start, end }: LineSpan, by: number): LineSpan {
  return { start: start + by, end: end + by };
}

function hunksBetween(old: readonly string[], fresh: readonly string[], deadline: number): readonly LineHunk[] {
  const whole = { old: { start: 0, end: old.length }, fresh: { start: 0, end: fresh.length } };
  if (old.length === 0 && fresh.length === 0) return [];
  if (old.length === 0 || fresh.length === 0) return [whole];
  const timeout = Math.max(0, deadline - performance.now());
  const parts = diffArrays([...old], [...fresh], { timeout });
  if (parts === undefined) return [whole];
  const hunks: LineHunk[] = [];
  let oldAt = 0;
  let freshAt = 0;
  let from = { old: 0, fresh: 0 };
  const close = () => {
    if (from.old === oldAt && from.fresh === freshAt) return;
    hunks.push({ old: { start: from.old, end: oldAt }, fresh: { start: from.fresh, end: freshAt } });
  };
  for (const { added, removed, value } of parts) {
    if (removed) oldAt += value.length;
    else if (added) freshAt += value.length;
    else {
      close();
      oldAt += value.length;
      freshAt += value.length;
      from = { old: oldAt, fresh: freshAt };
    }
  }
  close();
  return hunks;
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
