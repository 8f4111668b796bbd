/** A piece of streamed text with its place in the log. */
export interface TextPiece {
  readonly itemId: string;
  readonly firstSeq: bigint;
  readonly seq: bigint;
  readonly text: string;
}

/**
 * Joins the pieces of streamed items. After a reconnection a replay may send one piece in place of several that were
 * seen; this tells what of it is new, so that nothing is shown twice.
 */
export class ItemText {
  readonly #items = new Map<string, { readonly firstSeq: bigint; readonly text: string }[]>();

  /** The part of the piece that no earlier piece of its item had. */
  add(piece: TextPiece): string {
    const firstSeq = piece.firstSeq === 0n ? piece.seq : piece.firstSeq;
    const known = this.#items.get(piece.itemId) ?? [];
    const kept = known.filter((earlier) => earlier.firstSeq < firstSeq);
    const shown = known
      .slice(kept.length)
      .map((earlier) => earlier.text)
      .join("");
    this.#items.set(piece.itemId, [...kept, { firstSeq, text: piece.text }]);
    return piece.text.startsWith(shown) ? piece.text.slice(shown.length) : piece.text;
  }

  /** All of an item so far. */
  text(itemId: string): string {
    return (this.#items.get(itemId) ?? []).map((piece) => piece.text).join("");
  }

  clear(): void {
    this.#items.clear();
  }
}
