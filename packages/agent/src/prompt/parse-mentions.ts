import { withoutFences } from "./without-fences.ts";

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
