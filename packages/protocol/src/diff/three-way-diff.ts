import { diffLines } from "./line-diff.ts";
import { type LineEdit, splitLines } from "./line-edit.ts";
import { textWithoutNul } from "./utf8-text.ts";

export interface ThreeTexts {
  /** What both sides started from. */
  readonly base: string;
  /** What one side wants to write. */
  readonly mine: string;
  /** The present text. */
  readonly theirs: string;
}

/** `conflict`: both sides changed these lines, and differently. */
type HunkKind = "mine" | "theirs" | "same" | "conflict";

interface Hunk {
  readonly kind: HunkKind;
  /** 1-based line in `base` where it begins. */
  readonly start: number;
  /** 1-based line in `theirs` where it begins. */
  readonly line: number;
  readonly base: readonly string[];
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
}

const titles: Readonly<Record<Exclude<HunkKind, "conflict">, string>> = {
  mine: "only you change this",
  theirs: "changed since you read it",
  same: "changed since you read it, just as you wanted",
};

/**
 * Both sides' changes of one text, for a reader who must merge them: one hunk for each place, in the order of the file, with
 * diff3 conflict markers where both changed the same lines. Only LF ends lines. Empty if neither changed the text.
 *
 * @param options.context lines of `theirs` before a hunk; `options.timeoutMs` milliseconds for each comparison
 * @param options.maxLines the text is cut after this many lines, with a note
 */
export function threeWayDiff(
  texts: ThreeTexts,
  options: { readonly context?: number; readonly maxLines?: number; readonly timeoutMs?: number } = {},
): string {
  const { context = 2, maxLines = 400, timeoutMs = 250 } = options;
  const theirs = splitLines(texts.theirs);
  const lines: string[] = [];
  for (const hunk of hunksOf(texts, timeoutMs)) {
    const before = theirs.slice(Math.max(0, hunk.line - 1 - context), hunk.line - 1);
    lines.push(
      `@@ line ${hunk.line} now: ${hunk.kind === "conflict" ? "conflict" : titles[hunk.kind]} @@`,
      ...prefixed(" ", before),
      ...body(hunk),
    );
  }
  if (lines.length > maxLines) lines.splice(maxLines, lines.length, "[… more differences, not shown]");
  return lines.map((line) => `${line}\n`).join("");
}

/** The text with both sides' changes; undefined if both changed the same lines differently. */
export function mergedText(
  texts: ThreeTexts,
  { timeoutMs = 250 }: { readonly timeoutMs?: number } = {},
): string | undefined {
  const base = splitLines(texts.base);
  const merged: string[] = [];
  let at = 1;
  for (const hunk of hunksOf(texts, timeoutMs)) {
    if (hunk.kind === "conflict") return undefined;
    merged.push(...base.slice(at - 1, hunk.start - 1), ...(hunk.kind === "mine" ? hunk.mine : hunk.theirs));
    at = hunk.start + hunk.base.length;
  }
  return [...merged, ...base.slice(at - 1)].join("");
}

/** The same for files; undefined also if one of them is no text. */
export function mergedBytes({
  base,
  mine,
  theirs,
}: Readonly<Record<keyof ThreeTexts, Uint8Array>>): Uint8Array | undefined {
  const [from, own, there] = [base, mine, theirs].map(textWithoutNul);
  if (from === undefined || own === undefined || there === undefined) return undefined;
  const text = mergedText({ base: from, mine: own, theirs: there });
  return text === undefined ? undefined : new TextEncoder().encode(text);
}

function body(hunk: Hunk): readonly string[] {
  switch (hunk.kind) {
    case "conflict":
      return [
        "<<<<<<< what you wanted",
        ...prefixed("", hunk.mine),
        "||||||| what you read",
        ...prefixed("", hunk.base),
        "=======",
        ...prefixed("", hunk.theirs),
        ">>>>>>> what is there now",
      ];
    case "mine":
      return [...prefixed("-", hunk.base), ...prefixed("+", hunk.mine)];
    case "theirs":
    case "same":
      return [...prefixed("-", hunk.base), ...prefixed("+", hunk.theirs)];
  }
}

function prefixed(mark: string, lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${mark}${line.endsWith("\n") ? line.slice(0, -1) : line}`);
}

/** Edits of both sides; those that touch are joined. */
function hunksOf(texts: ThreeTexts, timeoutMs: number): readonly Hunk[] {
  const base = splitLines(texts.base);
  const sides = {
    mine: { lines: splitLines(texts.mine), edits: diffLines(texts.base, texts.mine, { timeoutMs }).edits },
    theirs: { lines: splitLines(texts.theirs), edits: diffLines(texts.base, texts.theirs, { timeoutMs }).edits },
  };
  const regions: { start: number; end: number; mine: boolean; theirs: boolean }[] = [];
  const edits = [
    ...sides.mine.edits.map((edit) => ({ edit, mine: true, theirs: false })),
    ...sides.theirs.edits.map((edit) => ({ edit, mine: false, theirs: true })),
  ].toSorted((one, other) => one.edit.oldStart - other.edit.oldStart);
  for (const { edit, mine, theirs } of edits) {
    const last = regions.at(-1);
    const end = edit.oldStart + edit.oldCount;
    if (last !== undefined && edit.oldStart <= last.end) {
      last.end = Math.max(last.end, end);
      last.mine ||= mine;
      last.theirs ||= theirs;
    } else regions.push({ start: edit.oldStart, end, mine, theirs });
  }
  return regions.map((region) => {
    const mine = within(sides.mine, region);
    const theirs = within(sides.theirs, region);
    const same = mine.lines.join("") === theirs.lines.join("");
    return {
      kind: region.mine && region.theirs ? (same ? "same" : "conflict") : region.mine ? "mine" : "theirs",
      start: region.start,
      line: theirs.start,
      base: base.slice(region.start - 1, region.end - 1),
      mine: mine.lines,
      theirs: theirs.lines,
    };
  });
}

/** A side's lines for a region of the base. Each of its edits is inside or outside of the region, never across a border. */
function within(
  side: { readonly lines: readonly string[]; readonly edits: readonly LineEdit[] },
  region: { readonly start: number; readonly end: number },
): { readonly start: number; readonly lines: readonly string[] } {
  let before = 0;
  let inside = 0;
  for (const edit of side.edits) {
    const growth = edit.newCount - edit.oldCount;
    if (edit.oldStart < region.start) before += growth;
    else if (edit.oldStart <= region.end) inside += growth;
  }
  const start = region.start + before;
  return { start, lines: side.lines.slice(start - 1, region.end - 1 + before + inside) };
}
