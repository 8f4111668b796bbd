import type { RequestToken } from "./request-tokens.ts";

/** A run of tokens with the text they came from. Counts below zero are from the end. */
export class Clause {
  readonly #source: string;
  readonly #tokens: readonly RequestToken[];

  constructor(source: string, tokens: readonly RequestToken[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  get length(): number {
    return this.#tokens.length;
  }

  get isEmpty(): boolean {
    return this.#tokens.length === 0;
  }

  get last(): RequestToken | undefined {
    return this.#tokens.at(-1);
  }

  /** The plain word there, in lower case. */
  word(index: number): string | undefined {
    const token = this.#tokens.at(index);
    return token?.kind === "word" ? token.value.toLowerCase() : undefined;
  }

  isOnly(word: string): boolean {
    return this.length === 1 && this.word(0)?.replace(/[.?!]$/, "") === word;
  }

  from(count: number): Clause {
    return new Clause(this.#source, this.#tokens.slice(count));
  }

  to(count: number): Clause {
    return new Clause(this.#source, this.#tokens.slice(0, count));
  }

  /** Drops a filler word at the start, unless it is all there is. */
  without(...words: readonly string[]): Clause {
    const first = this.word(0);
    return first !== undefined && words.includes(first) && this.length > 1 ? this.from(1) : this;
  }

  splitFirst(...words: readonly string[]): readonly [Clause, Clause] {
    return this.#split(this.#tokens.findIndex((token, index) => index > 0 && isWord(token, ...words)));
  }

  splitLast(...words: readonly string[]): readonly [Clause, Clause] {
    return this.#split(this.#tokens.findLastIndex((token, index) => index > 0 && isWord(token, ...words)));
  }

  #split(index: number): readonly [Clause, Clause] {
    return index === -1 ? [this, this.to(0)] : [this.to(index), this.from(index + 1)];
  }

  /** What the tokens say: the value of a lone quoted text, else the words as written. */
  text(): string {
    const [first] = this.#tokens;
    const last = this.last;
    if (first === undefined || last === undefined) return "";
    if ((first.kind === "quoted" || first.kind === "fence") && this.#isAlone(first, last)) return first.value;
    return this.#source.slice(first.start, last.end).replace(/[,;]$/, "");
  }

  #isAlone(first: RequestToken, last: RequestToken): boolean {
    return this.length === 1 || /^[\s,;.]*$/.test(this.#source.slice(first.end, last.end));
  }

  /** Its words and quoted texts one by one, without what only joins them. */
  words(): readonly string[] {
    return this.#tokens.flatMap((token) => {
      if (token.kind !== "word") return [token.value];
      const word = token.value.replace(/,$/, "");
      return word === "" || word.toLowerCase() === "and" ? [] : [word];
    });
  }

  /** As a path or glob: `./` means nothing, and neither does the full stop that ends a sentence. */
  path(): string {
    const [first] = this.#tokens;
    const { last } = this;
    const mentioned = first?.kind === "mention" && last !== undefined && this.#isAlone(first, last);
    const written = mentioned ? first.value : this.text();
    const path = first?.kind === "word" ? written.replace(/(?<=[\w*\])}])\.$/, "") : written;
    return path.replace(/^(\.\/)+(?=.)/, "");
  }
}

/** A plain word that is one of these, in any letter case. */
export function isWord(token: RequestToken | undefined, ...words: readonly string[]): boolean {
  return token?.kind === "word" && words.includes(token.value.toLowerCase());
}
