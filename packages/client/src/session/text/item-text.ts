/** A piece of streamed text with its place in the log. */
export interface TextPiece {
  readonly itemId: string;
  readonly firstSeq: bigint;
  readonly seq: bigint;
  readonly text: string;
}

/**
 * Joins the pieces of streamed items. After a reconnection, a replay may send one piece instead of several already seen; this
 * returns only the new part, so that nothing is shown twice.
 */
export class ItemText {
  readonly #items = new Map<string, { readonly pieces: { firstSeq: bigint; start: number }[]; text: string }>();

  /** The part of the piece that is new. The cost does not depend on the item's length. */
  add(piece: TextPiece): string {
    const firstSeq = piece.firstSeq === 0n ? piece.seq : piece.firstSeq;
    const item = this.#items.get(piece.itemId) ?? { pieces: [], text: "" };
    this.#items.set(piece.itemId, item);
    let start = item.text.length;
    for (let last = item.pieces.at(-1); last !== undefined && last.firstSeq >= firstSeq; last = item.pieces.at(-1)) {
      start = last.start;
      item.pieces.pop();
    }
    item.pieces.push({ firstSeq, start });
    if (start === item.text.length) {
      item.text += piece.text;
      return piece.text;
    }
    const shown = item.text.slice(start);
    item.text = item.text.slice(0, start) + piece.text;
    return piece.text.startsWith(shown) ? piece.text.slice(shown.length) : piece.text;
  }

  /** All of an item so far. */
  text(itemId: string): string {
    return this.#items.get(itemId)?.text ?? "";
  }

  clear(): void {
    this.#items.clear();
  }
}
