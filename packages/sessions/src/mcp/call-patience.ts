/** Ends a call from which nothing is heard for so long; the time of a person who is asked in its course does not count. */
export class CallPatience implements Disposable {
  readonly #ending = new AbortController();
  readonly #milliseconds: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Its server shows that it works. */
  heard(): void {
    this[Symbol.dispose]();
    const reason = `nothing was heard for ${this.#milliseconds / 1_000} seconds`;
    this.#timer = setTimeout(() => this.#ending.abort(reason), this.#milliseconds);
  }

  async whileAsked<T>(asking: Promise<T>): Promise<T> {
    this[Symbol.dispose]();
    try {
      return await asking;
    } finally {
      this.heard();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
