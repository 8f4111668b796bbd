/**
 * One streamed text, made of pieces with their place in the log. A replay may send one piece in place of several earlier ones,
 * which it then replaces; it never begins in the middle of a piece. Adding a piece takes the same time, however many there are.
 */
export class StreamedText {
  readonly #keep: number;
  /** Where each piece begins, counted from the text's beginning. */
  readonly #pieces: { readonly firstSeq: bigint; readonly start: number }[] = [];
  #text = "";
  /** Number of characters before `#text` that were dropped. */
  #dropped = 0;

  /** @param keep most characters that `text` returns, from the end */
  constructor(keep: number = Number.POSITIVE_INFINITY) {
    this.#keep = keep;
  }

  /** @returns the part that was not there before */
  add(piece: { readonly firstSeq: bigint; readonly text: string }): string {
    const end = this.#dropped + this.#text.length;
    let start = end;
    for (let last = this.#pieces.at(-1); last !== undefined && last.firstSeq >= piece.firstSeq; ) {
      start = last.start;
      this.#pieces.pop();
      last = this.#pieces.at(-1);
    }
    this.#pieces.push({ firstSeq: piece.firstSeq, start });
    const known = this.#text.slice(Math.max(0, start - this.#dropped));
    const isMore = start < this.#dropped || piece.text.startsWith(known);
    if (start < this.#dropped) {
      this.#dropped = start;
      this.#text = piece.text;
    } else if (start === this.#dropped + this.#text.length) this.#text += piece.text;
    else this.#text = this.#text.slice(0, start - this.#dropped) + piece.text;
    // Up to twice as much is kept, so that cutting costs little per piece.
    if (this.#text.length > this.#keep * 2) {
      this.#dropped += this.#text.length - this.#keep;
      this.#text = this.#text.slice(-this.#keep);
    }
    return isMore ? piece.text.slice(end - start) : piece.text;
  }

  /** The whole text, or only its end if it is longer than `keep`. */
  get text(): string {
    return this.#text.length > this.#keep ? this.#text.slice(-this.#keep) : this.#text;
  }

  get cut(): boolean {
    return this.#dropped > 0 || this.#text.length > this.#keep;
  }
}
