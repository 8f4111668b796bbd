export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type StrictJsonErrorCode =
  | "syntax"
  | "duplicate_key"
  | "forbidden_key"
  | "lone_surrogate"
  | "unsafe_number"
  | "too_deep"
  | "too_large";

/** The text is not JSON, or JSON that two parsers could read differently. */
export class StrictJsonError extends Error {
  override readonly name = "StrictJsonError";
  readonly code: StrictJsonErrorCode;
  /** Offset in the text, in UTF-16 code units. */
  readonly offset: number;
  /** Where in the value, e.g. `steps[0].title`; empty for the whole. */
  readonly path: string;

  constructor(code: StrictJsonErrorCode, message: string, offset: number, path: string) {
    super(message);
    this.code = code;
    this.offset = offset;
    this.path = path;
  }
}

export interface StrictJsonLimits {
  /** UTF-16 code units of text; 1 Mi by default. */
  readonly maxLength?: number;
  /** Nested arrays and objects; 64 by default. */
  readonly maxDepth?: number;
}

/**
 * Parses JSON that has one meaning only. Refuses what `JSON.parse` lets through: a key that occurs twice (also when one is
 * written with escapes), `__proto__`, halves of surrogate pairs, integers beyond ±(2^53 - 1), numbers that are no finite
 * double, and texts beyond the limits. Throws `StrictJsonError`.
 */
export function parseStrictJson(text: string, limits: StrictJsonLimits = {}): JsonValue {
  const maxLength = limits.maxLength ?? 1_048_576;
  if (text.length > maxLength) {
    throw new StrictJsonError(
      "too_large",
      `The text is longer than ${maxLength} characters: shorten it.`,
      maxLength,
      "",
    );
  }
  return new StrictJsonParser(text, limits.maxDepth ?? 64).parse();
}

/** Where JSON of any length has a key twice, e.g. `metadata.seq`; undefined when it has none, or is not JSON. */
export function repeatedKey(text: string): string | undefined {
  try {
    parseStrictJson(text, { maxLength: Number.POSITIVE_INFINITY, maxDepth: 1_000 });
    return undefined;
  } catch (error) {
    if (error instanceof StrictJsonError) return error.code === "duplicate_key" ? error.path : undefined;
    throw error;
  }
}

/** `steps[0].actions[1].path` from the parts of a path. */
export function pathText(parts: readonly PropertyKey[]): string {
  let text = "";
  for (const part of parts) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? String(part) : `.${String(part)}`;
  }
  return text;
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Up to the next character of a string that means more than itself. */
const plainPattern = /[^"\\\u0000-\u001f]*/y;
const blankPattern = /[ \t\n\r]*/y;
const hexPattern = /[0-9a-fA-F]{4}/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class StrictJsonParser {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #path: PropertyKey[] = [];
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  parse(): JsonValue {
    const value = this.#value();
    this.#match(blankPattern);
    if (this.#at < this.#text.length) this.#fail("syntax", "There is text after the end of the JSON value");
    return value;
  }

  #value(): JsonValue {
    this.#match(blankPattern);
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(): JsonValue {
    this.#enter();
    const members: Record<string, JsonValue> = {};
    if (!this.#take("}")) {
      do {
        this.#match(blankPattern);
        const start = this.#at;
        if (this.#text[this.#at] !== '"') this.#fail("syntax", "A key in double quotes is expected");
        const key = this.#string();
        this.#path.push(key);
        if (key === "__proto__") this.#fail("forbidden_key", 'The key "__proto__" is refused: rename it', start);
        if (Object.hasOwn(members, key)) {
          this.#fail("duplicate_key", `The key ${JSON.stringify(key)} occurs twice: keep one`, start);
        }
        if (!this.#take(":")) this.#fail("syntax", "A colon is expected after the key");
        members[key] = this.#value();
        this.#path.pop();
      } while (this.#take(","));
      if (!this.#take("}")) this.#fail("syntax", "A comma or the end of the object is expected");
    }
    this.#depth -= 1;
    return members;
  }

  #array(): JsonValue {
    this.#enter();
    const items: JsonValue[] = [];
    if (!this.#take("]")) {
      do {
        this.#path.push(items.length);
        items.push(this.#value());
        this.#path.pop();
      } while (this.#take(","));
      if (!this.#take("]")) this.#fail("syntax", "A comma or the end of the array is expected");
    }
    this.#depth -= 1;
    return items;
  }

  #depth = 0;

  #enter(): void {
    this.#at += 1;
    this.#depth += 1;
    if (this.#depth > this.#maxDepth) {
      this.#fail("too_deep", `The value is nested deeper than ${this.#maxDepth} levels: flatten it`);
    }
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let value = "";
    for (;;) {
      value += this.#match(plainPattern);
      const next = this.#text[this.#at];
      if (next === '"') break;
      if (next !== "\\")
        this.#fail("syntax", "The string does not end, or holds a control character that is not escaped");
      value += this.#escape();
    }
    this.#at += 1;
    if (!value.isWellFormed()) this.#fail("lone_surrogate", "The string holds half of a surrogate pair", start);
    return value;
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? "";
    this.#at += 2;
    if (letter === "u") {
      const digits = this.#match(hexPattern);
      if (digits !== "") return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const meant = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    return meant ?? this.#fail("syntax", "The string holds an escape that JSON does not have");
  }

  #number(): number {
    const start = this.#at;
    const text = this.#match(numberPattern);
    if (text === "") this.#fail("syntax", "A JSON value is expected");
    const value = Number(text);
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      this.#fail("unsafe_number", "The number is not exact in JSON: write it as a string", start);
    }
    return value;
  }

  #word<Value extends JsonValue>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) this.#fail("syntax", "A JSON value is expected");
    this.#at += word.length;
    return value;
  }

  /** Moves past blanks and this character; false when another one follows. */
  #take(character: string): boolean {
    this.#match(blankPattern);
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #fail(code: StrictJsonErrorCode, message: string, offset = this.#at): never {
    throw new StrictJsonError(code, `${message} (at character ${offset}).`, offset, pathText(this.#path));
  }
}
