interface Output {
  readonly text: string;
  /** Characters before it. */
  readonly leftOut: number;
  readonly end: number;
}

/** The newest output of a run that may print for days. Positions are characters since its beginning. */
export class OutputRing {
  readonly #limit: number;
  #text = "";
  #end = 0;
  #more = Promise.withResolvers<void>();

  /** @param limit minimum number of characters kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Position after the last character. */
  get end(): number {
    return this.#end;
  }

  push(text: string): void {
    if (text === "") return;
    this.#end += text.length;
    const all = this.#text + text;
    // Trimmed only at twice the limit, to copy less.
    this.#text = all.length > 2 * this.#limit ? all.slice(-this.#limit) : all;
    this.wake();
  }

  /** Output since a position, as far as it is kept; only its end if it is too long. `end`: the position after it. */
  since(place: number, most: number): Output {
    const wanted = Math.max(0, this.#end - Math.max(0, place));
    const length = Math.min(wanted, most, this.#text.length);
    const text = length === 0 ? "" : this.#text.slice(-length);
    // Do not split a surrogate pair.
    const whole = /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text;
    return { text: whole, leftOut: wanted - whole.length, end: this.#end };
  }

  /** The same, but its beginning if it is too long: the next piece is what follows `end`. */
  next(place: number, most: number): Output {
    const { text, leftOut, end } = this.since(place, this.#text.length);
    if (text.length <= most) return { text, leftOut, end };
    const piece = text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most);
    return { text: piece, leftOut, end: end - text.length + piece.length };
  }

  /** Resolves when there is output after that position, or when waiters are woken. */
  more(place: number): Promise<void> {
    return this.#end > place ? Promise.resolve() : this.#more.promise;
  }

  wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }
}
