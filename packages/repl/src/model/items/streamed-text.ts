/**
 * One streamed text, put together from pieces with their place in the log. A replay may send one piece in place of several
 * that were seen: it takes their place; it does not begin in the middle of one. Each piece costs the same, however many came before.
 */
export class StreamedText {
  readonly #keep: number;
  /** Where each piece begins, counted from the text's beginning. */
  readonly #pieces: { readonly firstSeq: bigint; readonly start: number }[] = [];
  #text = "";
  /** Characters before `#text` that were let go. */
  #dropped = 0;

  /** @param keep characters at the end that `text` gives at most */
  constructor(keep: number = Number.POSITIVE_INFINITY) {
    this.#keep = keep;
  }

  add(piece: { readonly firstSeq: bigint; readonly text: string }): void {
    let start = this.#dropped + this.#text.length;
    for (let last = this.#pieces.at(-1); last !== undefined && last.firstSeq >= piece.firstSeq; ) {
      start = last.start;
      this.#pieces.pop();
      last = this.#pieces.at(-1);
    }
    this.#pieces.push({ firstSeq: piece.firstSeq, start });
    if (start < this.#dropped) {
      this.#dropped = start;
      this.#text = piece.text;
    } else if (start === this.#dropped + this.#text.length) this.#text += piece.text;
    else this.#text = this.#text.slice(0, start - this.#dropped) + piece.text;
    // Twice as much is held, so that cutting costs little for each piece.
    if (this.#text.length > this.#keep * 2) {
      this.#dropped += this.#text.length - this.#keep;
      this.#text = this.#text.slice(-this.#keep);
    }
  }

  /** All of it, or its end when it is longer than what is kept. */
  get text(): string {
    return this.#text.length > this.#keep ? this.#text.slice(-this.#keep) : this.#text;
  }

  get cut(): boolean {
    return this.#dropped > 0 || this.#text.length > this.#keep;
  }
}
