/** Something the user pointed at with `@` in a prompt. */
export type Mention = {
  /** As it was written, e.g. `@src/a.ts:10-20`. */
  readonly written: string;
} & (
  | {
      readonly type: "path";
      readonly path: string;
      /** 1-based, inclusive; undefined: the whole file. */
      readonly lines: { readonly first: number; readonly last: number } | undefined;
      /** Written in quotes: certainly a path. */
      readonly quoted: boolean;
    }
  | { readonly type: "problems" }
  /** Changes since the last commit, of one file or folder, or of everything. */
  | { readonly type: "diff"; readonly path: string | undefined }
  /** What is staged in git's index for the next commit. */
  | { readonly type: "staged" }
);

const maxMentions = 50;

const written =
  /@(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"'`,;()[\]{}<>]{1,1000}))(?:(?<=["'])([:#]L?\d+(?:-L?\d+)?))?/u;
/** Only at the beginning, after a space or after an opening mark: `me@example.org` is no mention. */
const anywhere = new RegExp(`(?<=^|[\\s([{<,;"'\`])${written.source}`, "gu");
const here = new RegExp(written.source, "uy");
const range = /(?::|#)L?(\d{1,7})(?:-L?(\d{1,7}))?$/;

/** The mentions in a prompt, in order, without duplicates. Does not check whether the paths exist. */
export function parseMentions(prompt: string): readonly Mention[] {
  const found = new Map<string, Mention>();
  for (const match of withoutFences(prompt).matchAll(anywhere)) {
    const made = mentionOf(match);
    if (made !== undefined && !found.has(made.written)) found.set(made.written, made);
    if (found.size === maxMentions) break;
  }
  return [...found.values()];
}

/** The mention that begins at `start`; it ends at a space or at a mark that ends a phrase. */
export function mentionAt(prompt: string, start: number): Mention | undefined {
  here.lastIndex = start;
  const match = here.exec(prompt);
  const made = match === null ? undefined : mentionOf(match);
  return made !== undefined && /^(?:[\s,;.:!?]|$)/.test(prompt.slice(start + made.written.length)) ? made : undefined;
}

function mentionOf([whole, double, single, bare, behind = ""]: RegExpExecArray): Mention | undefined {
  const inQuotes = double ?? single;
  const quoted = inQuotes !== undefined;
  const text = quoted ? inQuotes + behind : trimmed(bare ?? "");
  const written = quoted ? whole : `@${text}`;
  if (!quoted && text === "problems") return { type: "problems", written };
  if (!quoted && text === "staged") return { type: "staged", written };
  if (!quoted && text === "diff") return { type: "diff", path: undefined, written };
  if (/^diff:./u.test(text)) return { type: "diff", path: text.slice("diff:".length), written };
  const lines = range.exec(text);
  const path = lines === null ? text : text.slice(0, lines.index);
  if (path.trim() === "") return undefined;
  const first = Number(lines?.[1] ?? 0);
  const last = Number(lines?.[2] ?? lines?.[1] ?? 0);
  const part = first >= 1 && last >= first ? { first, last } : undefined;
  return { type: "path", written, path, lines: part, quoted };
}

/** Removes punctuation that ends a sentence: it is not part of the path. */
function trimmed(text: string): string {
  if (/^\.\.?$/.test(text)) return text;
  let end = text.length;
  while (end > 0 && ".:!?…".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Three or more marks at the beginning of a line, after at most three spaces. */
const marks = /(?<=^|\n) {0,3}((`|~)\2{2,})/g;

/**
 * The prompt with fenced code replaced by spaces, because it is quoted; everything else keeps its position. A fence
 * ends at the next fence of the same mark that is at least as long; an unclosed one is no fence. Linear time.
 */
function withoutFences(prompt: string): string {
  const fences = [...prompt.matchAll(marks)].map(({ 0: all, 1: run = "", 2: mark = "", index }) => {
    return { start: index, end: index + all.length, mark, length: run.length, isClosed: false };
  });
  const longest: Record<string, number> = {};
  for (const fence of fences.toReversed()) {
    const later = longest[fence.mark] ?? 0;
    fence.isClosed = later >= fence.length;
    longest[fence.mark] = Math.max(later, fence.length);
  }
  const parts: string[] = [];
  let told = 0;
  let open: (typeof fences)[number] | undefined;
  for (const fence of fences) {
    if (open === undefined) open = fence.isClosed ? fence : undefined;
    else if (fence.mark === open.mark && fence.length >= open.length) {
      parts.push(prompt.slice(told, open.start), " ".repeat(fence.end - open.start));
      told = fence.end;
      open = undefined;
    }
  }
  return parts.join("") + prompt.slice(told);
}
