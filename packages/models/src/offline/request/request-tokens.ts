import { mentionAt } from "@gennai/agent/prompt/parse-mentions";

/**
 * A piece of a request. `quoted` and `fence` are exactly their value, a `mention` is the path after its `@`: a file may have
 * any name, so none of it is a keyword. A `word` ends at white space.
 */
export interface RequestToken {
  readonly kind: "word" | "quoted" | "fence" | "mention";
  readonly value: string;
  /** Offsets in the request, quotes included. */
  readonly start: number;
  readonly end: number;
}

const closing: Readonly<Record<string, string>> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’" };
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", '"': '"', "\\": "\\" };

/** Never fails: a quote that does not close is an ordinary character. */
export function tokenizeRequest(text: string): readonly RequestToken[] {
  const tokens: RequestToken[] = [];
  const space = /\s*/y;
  let position = 0;
  while (true) {
    space.lastIndex = position;
    position += space.exec(text)?.[0].length ?? 0;
    if (position >= text.length) return tokens;
    const token =
      fenceAt(text, position) ?? quotedAt(text, position) ?? mentionToken(text, position) ?? wordAt(text, position);
    tokens.push(token);
    position = token.end;
  }
}

function fenceAt(text: string, start: number): RequestToken | undefined {
  const fence = /(`{3,}|~{3,})[^\n`]*\n(?:([\s\S]*?)\n)??[ \t]*\1(?=\s|$)/y;
  fence.lastIndex = start;
  const found = fence.exec(text);
  if (found === null) return undefined;
  const body = found[2];
  return { kind: "fence", value: body === undefined ? "" : `${body}\n`, start, end: fence.lastIndex };
}

function quotedAt(text: string, start: number): RequestToken | undefined {
  const open = text[start] ?? "";
  const close = closing[open];
  if (close === undefined) return undefined;
  let value = "";
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text[index] ?? "";
    const escaped = open === '"' && character === "\\" ? escapes[text[index + 1] ?? ""] : undefined;
    if (escaped !== undefined) {
      value += escaped;
      index += 1;
    } else if (character === close && /^(\s|[,;.:!?](\s|$)|$)/.test(text.slice(index + 1, index + 3))) {
      return { kind: "quoted", value, start, end: index + 1 };
    } else value += character;
  }
  return undefined;
}

function mentionToken(text: string, start: number): RequestToken | undefined {
  const mention = mentionAt(text, start);
  if (mention?.type !== "path") return undefined;
  return { kind: "mention", value: mention.path, start, end: start + mention.written.length };
}

function wordAt(text: string, start: number): RequestToken {
  const word = /\S+/y;
  word.lastIndex = start;
  const value = word.exec(text)?.[0] ?? "";
  return { kind: "word", value, start, end: start + value.length };
}
