import type { Message } from "../model.ts";

interface Unfilled {
  readonly index: number;
  readonly output?: string | undefined;
  readonly images?: readonly string[] | undefined;
  /** Comes after the output. */
  readonly note?: string;
}

const decoder = new TextDecoder();

const goneImage = "[An image that was shown here is no longer stored.]";

/** Messages whose content is still in the blob store, by their place in the conversation. */
export class UnfilledMessages {
  #waiting: readonly Unfilled[] = [];

  /** @param content digests */
  add(index: number, content: Pick<Unfilled, "output" | "images">): void {
    this.#waiting = [...this.#waiting, { index, ...content }];
  }

  hasImages(index: number): boolean {
    return this.#waiting.some((each) => each.index === index && each.images !== undefined);
  }

  /** Adds a note behind an output that is still to come; false if there is none. */
  addNote(index: number, note: string): boolean {
    const waits = (each: Unfilled): boolean => each.index === index && each.output !== undefined;
    if (!this.#waiting.some(waits)) return false;
    this.#waiting = this.#waiting.map((each) => (waits(each) ? { ...each, note: (each.note ?? "") + note } : each));
    return true;
  }

  /** @param fewer by how many places the others move to the front */
  drop(isGone: (index: number) => boolean, fewer = 0): void {
    const kept = this.#waiting.filter(({ index }) => !isGone(index));
    this.#waiting = kept.map((each) => ({ ...each, index: each.index - fewer }));
  }

  /** @param messages as they are then @param read content by digest; undefined if it was purged */
  async fill(messages: () => Message[], read: (sha256: string) => Promise<Uint8Array | undefined>): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { index, output, images, note = "" } of waiting) {
      const message = messages()[index];
      if (message === undefined) continue;
      const filled = { ...message };
      if (filled.role === "tool" && output !== undefined) {
        const bytes = await read(output);
        filled.output =
          (bytes === undefined ? `${filled.output}\n[the rest is no longer stored]` : decoder.decode(bytes)) + note;
      }
      if ((filled.role === "tool" || filled.role === "user") && images !== undefined) {
        const stored = await Promise.all(images.map(read));
        const found = stored.filter((bytes) => bytes !== undefined);
        filled.images = [...(filled.images ?? []), ...found];
        if (filled.role === "tool" && found.length < stored.length) filled.output += `\n${goneImage}`;
      }
      messages()[index] = filled;
    }
  }
}
