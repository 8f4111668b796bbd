import { decidableIds, decisionFor, type ReviewState } from "@gennai/client/host/review-state";
import { wholeChange } from "@gennai/protocol/apply-review";
import { type Hunk, isBeyondText, type ProposedChange } from "@gennai/protocol/model/session/proposal";
import { type LineSpan, lineHunks, linesOf, placeSpans } from "./line-hunks.ts";
import { fileChange, placedHunks, type UnseenFile, unseenHunks } from "./unseen-file.ts";

/** A change as a document shows it: its lines in the document, and those that are not in it. */
export interface ShownHunk {
  /** Id of a proposal's hunk within its change; for an agent's written change, see `UnseenHunk`. */
  readonly id: string;
  readonly state: "open" | "keep" | "undo" | "edited";
  /** Line above which its actions are shown, 0-based. */
  readonly line: number;
  readonly marks: readonly HunkMark[];
  /** The change as lines with a leading ' ', '+' or '-'. */
  readonly diff: readonly string[];
}

/** Lines of the document that a change is about. */
export interface HunkMark {
  /**
   * `removed`: the lines would be removed. `added`: they are new. `changed`: they replace others. `place`: its lines
   * are not in the document.
   */
  readonly kind: "removed" | "added" | "changed" | "place";
  /** Empty for `place`. */
  readonly span: LineSpan;
}

/** Lines that change together; a hunk may have several such places, with unchanged lines between them. */
interface ChangedLines {
  readonly old: LineSpan;
  readonly fresh: LineSpan;
  readonly oldLines: readonly string[];
}

/** The side of a proposed change that a document shows. */
export type ProposalSide = "base" | "fresh";

/**
 * The hunks of a proposed change in a document with one of its sides.
 * @param side the text of that side
 * @param now the document's text, which the user may have edited; hunks whose lines were edited are left out
 */
export function proposedHunks(
  change: ProposedChange,
  review: ReviewState,
  which: ProposalSide,
  text: { readonly side: string; readonly now: string },
): readonly ShownHunk[] {
  const isWhole = decidableIds(change)[0] === "";
  if (isWhole && ((change.operation !== "delete" && change.movedFrom === undefined) || isBeyondText(change))) return [];
  const sideLines = linesOf(text.side);
  const nowLines = linesOf(text.now);
  const found = (isWhole ? [wholeFile(sideLines)] : change.hunks).map((hunk) => {
    const decision = decisionFor(review, change.id, hunk.id);
    // The other side shows the text as it was proposed.
    const edited = which === "base" && decision?.type === "edited" ? decision.text : undefined;
    return { hunk, decision, places: changedPlaces(hunk, edited) };
  });
  const all = found.flatMap(({ places }) => places);
  const placed = placeSpans(
    all.map((place) => place[which === "base" ? "old" : "fresh"]),
    sideLines,
    nowLines,
  );
  let at = 0;
  return found.flatMap(({ hunk, decision, places }): readonly ShownHunk[] => {
    const marks: HunkMark[] = [];
    for (const place of places) {
      const span = placed[at++];
      if (span === undefined) continue;
      marks.push({
        kind: span.start === span.end ? "place" : which === "base" ? "removed" : freshKind(place.oldLines),
        span,
      });
    }
    const [first] = marks;
    if (first === undefined || marks.length < places.length) return [];
    const line = lineOf(first.span, nowLines);
    return [{ id: hunk.id, state: decision?.type ?? "open", line, marks, diff: hunk.lines }];
  });
}

/** What the agent wrote and nobody has seen, in the present file. */
export function writtenHunks(file: UnseenFile, now: string): readonly ShownHunk[] {
  const hunks = unseenHunks(file);
  const placed = placedHunks(file, hunks, now);
  const nowLines = linesOf(now);
  const ofFile = fileChange(file);
  const whole = { id: wholeChange, state: "open", line: 0, marks: [], diff: [] } as const;
  if (ofFile === "delete") return [whole];
  const ofLines = hunks.flatMap(({ id, oldLines, freshLines }, index): readonly ShownHunk[] => {
    const span = placed[index];
    if (span === undefined) return [];
    const kind = span.start === span.end ? "place" : freshKind(oldLines);
    const diff = [
      ...oldLines.map((line) => `-${withoutEnd(line)}`),
      ...freshLines.map((line) => `+${withoutEnd(line)}`),
    ];
    const line = lineOf(span, nowLines);
    return [{ id, state: "open", line, marks: [{ kind, span }], diff }];
  });
  return ofFile === undefined ? ofLines : [whole, ...ofLines];
}

/** A place after the last line is shown at that line. */
function lineOf({ start }: LineSpan, lines: readonly string[]): number {
  return Math.max(0, Math.min(start, lines.length - 1));
}

function freshKind(oldLines: readonly string[]): "added" | "changed" {
  return oldLines.length === 0 ? "added" : "changed";
}

function changedPlaces(
  { oldRange, newRange, lines }: Pick<Hunk, "oldRange" | "newRange" | "lines">,
  edited: string | undefined,
): readonly ChangedLines[] {
  const oldStart = oldRange.count === 0 ? oldRange.start : oldRange.start - 1;
  const freshStart = newRange.count === 0 ? newRange.start : newRange.start - 1;
  const side = (mark: string) => linesWith(lines, mark);
  const old = side("-");
  const fresh = edited === undefined ? side("+") : linesOf(edited);
  const hunks = lineHunks(old, fresh);
  // Only the end of the last line differs, or nothing any more.
  const here = { old: { start: 0, end: 0 }, fresh: { start: 0, end: 0 } };
  return (hunks.length === 0 ? [here] : hunks).map((hunk) => ({
    old: { start: oldStart + hunk.old.start, end: oldStart + hunk.old.end },
    fresh: { start: freshStart + hunk.fresh.start, end: freshStart + hunk.fresh.end },
    oldLines: old.slice(hunk.old.start, hunk.old.end),
  }));
}

/** One side of a hunk: its context lines, and the lines with the mark. */
function linesWith(lines: readonly string[], mark: string): readonly string[] {
  return lines
    .filter((line) => line.startsWith(" ") || line.startsWith(mark))
    .map((line) => `${line.slice(1).replace(/\r$/, "")}\n`);
}

/** A delete or a rename is decided as a whole, above the first line of whichever side is shown. */
function wholeFile(lines: readonly string[]): Pick<Hunk, "id" | "oldRange" | "newRange" | "lines"> {
  return {
    id: "",
    oldRange: { start: 1, count: lines.length },
    newRange: { start: 0, count: 0 },
    lines: lines.map((line) => `-${withoutEnd(line)}`),
  };
}

function withoutEnd(line: string): string {
  return line.replace(/\n$/, "");
}
