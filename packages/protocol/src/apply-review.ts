import { splitLines } from "./diff/line-edit.ts";

/** What `applyReview` looks at of a proposed change. */
export interface ReviewableChange {
  /** For messages. */
  readonly path: string;
  readonly hunks: readonly ReviewableHunk[];
}

interface ReviewableHunk {
  readonly id: string;
  readonly oldRange: LineRange;
  readonly newRange: LineRange;
}

interface LineRange {
  /** 1-based; the line before when `count` is 0. */
  readonly start: number;
  readonly count: number;
}

/** What the user decided about one hunk. */
export type HunkDecision =
  | { readonly type: "keep"; readonly note?: string }
  | { readonly type: "undo"; readonly note?: string }
  /** `text` replaces all new lines of the hunk, including context lines. */
  | { readonly type: "edited"; readonly text: string; readonly note?: string };

/** What happens to a file after review. */
export type ReviewedFile =
  | { readonly type: "unchanged" }
  | { readonly type: "write"; readonly text: string }
  | { readonly type: "delete" };

/** The hunks of a change do not lie on its base and its new text: nothing of it can be applied. */
export class ReviewError extends Error {
  readonly code = "hunks_do_not_fit";
  override readonly name = "ReviewError";
}

/** The key for the decision about a change as a whole: one without hunks, or a delete. */
export const wholeChange = "";

/**
 * Applies decisions to a change. A hunk without a decision is not kept. Text between hunks, line endings, a byte-order
 * mark and the missing newline at the end stay as they are in the base.
 * @param base the text the change is based on; undefined when the file does not exist
 * @param newText the text after the change; undefined for a delete
 * @param decisions by hunk id; by `wholeChange` for a change without hunks, and to keep all hunks that have none of their own
 */
export function applyReview(
  base: string | undefined,
  newText: string | undefined,
  change: ReviewableChange,
  decisions: ReadonlyMap<string, HunkDecision>,
): ReviewedFile {
  const hunks = [...change.hunks].sort((one, other) => one.oldRange.start - other.oldRange.start);
  const whole = decisions.get(wholeChange);
  const rest: HunkDecision = whole?.type === "keep" ? whole : { type: "undo" };
  const choices =
    hunks.length === 0 ? [whole ?? rest] : hunks.map((hunk): HunkDecision => decisions.get(hunk.id) ?? rest);
  if (choices.every((choice) => choice.type === "undo")) return { type: "unchanged" };
  if (choices.every((choice) => choice.type === "keep")) {
    if (newText === undefined) return { type: "delete" };
    const text = keepByteOrderMark(base, newText);
    return text === base ? { type: "unchanged" } : { type: "write", text };
  }
  const text =
    hunks.length === 0
      ? editedText(choices[0], base ?? newText ?? "")
      : joinHunks(base ?? "", newText ?? "", hunks, choices, change.path);
  const marked = keepByteOrderMark(base, text);
  return marked === base ? { type: "unchanged" } : { type: "write", text: marked };
}

/** Throws `ReviewError` unless the hunks lie on both texts, which are the same between them. */
export function checkHunks(base: string, newText: string, { hunks, path }: ReviewableChange): void {
  const kept = hunks.map((): HunkDecision => ({ type: "keep" }));
  joinHunks(base, newText, hunks, kept, path);
}

const byteOrderMark = "\uFEFF";

function joinHunks(
  base: string,
  newText: string,
  hunks: readonly ReviewableHunk[],
  choices: readonly HunkDecision[],
  path: string,
): string {
  const oldLines = splitLines(withoutByteOrderMark(base));
  const newLines = splitLines(withoutByteOrderMark(newText));
  const parts: string[] = [];
  let oldAt = 0;
  let newAt = 0;
  const between = (oldEnd: number, newEnd: number) => {
    const unchanged = oldLines.slice(oldAt, oldEnd).join("");
    if (oldEnd < oldAt || newEnd < newAt || oldEnd > oldLines.length || newEnd > newLines.length) throw misfit(path);
    if (withoutEndings(unchanged) !== withoutEndings(newLines.slice(newAt, newEnd).join(""))) throw misfit(path);
    parts.push(unchanged);
  };
  for (const [index, hunk] of hunks.entries()) {
    const old = span(hunk.oldRange);
    const fresh = span(hunk.newRange);
    between(old.start, fresh.start);
    if (old.end > oldLines.length || fresh.end > newLines.length) throw misfit(path);
    const choice = choices[index];
    const isLast = old.end === oldLines.length && fresh.end === newLines.length;
    if (choice?.type === "keep") parts.push(newLines.slice(fresh.start, fresh.end).join(""));
    else if (choice?.type === "edited") parts.push(fitEndings(choice.text, base === "" ? newText : base, isLast));
    else parts.push(oldLines.slice(old.start, old.end).join(""));
    oldAt = old.end;
    newAt = fresh.end;
  }
  between(oldLines.length, newLines.length);
  return parts.join("");
}

function misfit(path: string): ReviewError {
  return new ReviewError(`The proposed hunks for ${path} do not fit the file. Ask for the change again.`);
}

function editedText(choice: HunkDecision | undefined, like: string): string {
  return choice?.type === "edited" ? fitEndings(choice.text, like, true) : like;
}

/** An edited text takes the line ending of its file, and ends its last line where lines follow. */
function fitEndings(text: string, like: string, isLast: boolean): string {
  const ending = /\r\n/.test(like) && !/[^\r]\n/.test(like) ? "\r\n" : "\n";
  const fitted = ending === "\r\n" ? text.replace(/\r?\n/g, "\r\n") : text;
  return fitted === "" || isLast || fitted.endsWith("\n") ? fitted : fitted + ending;
}

function span(range: LineRange): { readonly start: number; readonly end: number } {
  const start = range.count === 0 ? range.start : range.start - 1;
  return { start, end: start + range.count };
}

function withoutEndings(text: string): string {
  return text.replace(/\r?\n/g, "\n").replace(/\n$/, "");
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

function keepByteOrderMark(base: string | undefined, text: string): string {
  return base?.startsWith(byteOrderMark) && !text.startsWith(byteOrderMark) && text !== ""
    ? byteOrderMark + text
    : text;
}
