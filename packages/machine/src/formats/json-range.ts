/** Range of a value in a JSON text: from its first character to after its last. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

export interface JsonMember extends JsonRange {
  /** Key of an object's member; undefined for an item of a list. */
  readonly key: string | undefined;
}

/**
 * The members of the object, or the items of the list, that begins at `start`. Changing the text at these ranges leaves every
 * other byte as it is, unlike parsing and writing again, which would change numbers, escapes and duplicate keys.
 * @param text valid JSON: parse it first
 */
export function jsonMembers(text: string, start: number): readonly JsonMember[] {
  const isObject = text[start] === "{";
  const members: JsonMember[] = [];
  let at = afterSpace(text, start + 1);
  while (text[at] !== "}" && text[at] !== "]") {
    let key: string | undefined;
    if (isObject) {
      const end = stringEnd(text, at);
      key = String(JSON.parse(text.slice(at, end)));
      at = afterSpace(text, afterSpace(text, end) + 1);
    }
    const end = valueEnd(text, at);
    members.push({ key, start: at, end });
    at = afterSpace(text, end);
    if (text[at] === ",") at = afterSpace(text, at + 1);
  }
  return members;
}

/** Range of the text's single value. */
export function jsonRoot(text: string): JsonRange {
  const start = afterSpace(text, 0);
  return { start, end: valueEnd(text, start) };
}

function afterSpace(text: string, at: number): number {
  space.lastIndex = at;
  space.exec(text);
  return space.lastIndex;
}

function stringEnd(text: string, at: number): number {
  let end = at + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  if (text[start] !== "{" && text[start] !== "[") {
    plain.lastIndex = start;
    plain.exec(text);
    return plain.lastIndex;
  }
  let depth = 0;
  for (let at = start; ; at += 1) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth === 0) return at + 1;
  }
}

const space = /[ \t\r\n]*/y;
const plain = /[^\s,\]}]+/y;
