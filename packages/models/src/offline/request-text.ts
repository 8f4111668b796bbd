import { mentionAt } from "@gennai/agent/prompt/parse-mentions";

/** A piece of a request: as it was written, and, of the same length, without what stands in quotes. */
export interface RequestText {
  readonly written: string;
  readonly masked: string;
}

const filler = "\uE000";
/** A fenced block, a quoted text or a mention in quotes: no word in it is a keyword. A quote that does not close is an ordinary character. */
const quoted =
  /(?<!\S)(?:(`{3,}|~{3,})[^\n`]*\n(?:[^]*?\n)??[ \t]*\1(?!\S)|@(?:"[^"\n]+"|'[^'\n]+')\S*|(?:"(?:\\[nt"\\]|[^])*?"|'[^]*?'|`[^]*?`|“[^]*?”|‘[^]*?’)(?![^\s,;.:!?]|[,;.:!?]\S))/g;
const isFence = /^(?:`{3,}|~{3,})[^\n`]*\n/;
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t" };

export function requestText(written: string): RequestText {
  return { written, masked: written.replaceAll(quoted, (text) => filler.repeat(text.length)) };
}

/** The part between two places, without the white space around it. */
export function cut({ written, masked }: RequestText, start: number, end = masked.length): RequestText {
  const part = masked.slice(start, end);
  const from = start + part.length - part.trimStart().length;
  const to = start + part.trimEnd().length;
  return { written: written.slice(from, to), masked: masked.slice(from, to) };
}

/** What it says: the value of a lone quoted text, else the words as written. */
export function valueOf({ written, masked }: RequestText): string {
  const [alone] = /^\uE000+(?=[\s,;.]*$)/.exec(masked) ?? [];
  const text = written.slice(0, alone?.length ?? 0);
  if (text === "" || text.startsWith("@")) return written.replace(/[,;]$/, "");
  if (isFence.test(text)) return lines(text.split("\n").slice(1, -1));
  const inside = text.slice(1, -1);
  return text.startsWith('"')
    ? inside.replaceAll(/\\([nt"\\])/g, (_, letter: string) => escapes[letter] ?? letter)
    : inside;
}

/** As a path or glob: a mention is its file, `./` means nothing, and neither does the full stop that ends a sentence. */
export function pathOf(text: RequestText): string {
  const mention = mentionAt(text.written, 0);
  const isMention = mention?.type === "path" && /^[\s,;.]*$/.test(text.written.slice(mention.written.length));
  const path = isMention ? mention.path : valueOf(text);
  return (text.masked.startsWith(filler) ? path : path.replace(/(?<=[\w*\])}])\.$/, "")).replace(/^(\.\/)+(?=.)/, "");
}

function lines(each: readonly string[]): string {
  return each.map((line) => `${line}\n`).join("");
}
