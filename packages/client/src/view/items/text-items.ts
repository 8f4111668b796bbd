import { StreamedText } from "../../session/text/streamed-text.ts";
import type { ItemList, ItemStart, OpenCell } from "./item-list.ts";
import type { AssistantItem, ThinkingItem } from "./view-item.ts";

type TextItem = ThinkingItem | AssistantItem;

/** What the model thinks and says, made from streamed pieces. Only one text is streamed at a time. */
export class TextItems {
  readonly #items: ItemList;
  readonly #texts = new Map<string, { readonly cell: OpenCell<TextItem>; readonly text: StreamedText }>();
  #streaming: OpenCell<TextItem> | undefined;

  constructor(items: ItemList) {
    this.#items = items;
  }

  /**
   * @param itemId as the server sent it; empty: the piece is a text of its own
   * @returns the part that was not there before
   */
  stream(
    kind: TextItem["kind"],
    place: ItemStart,
    itemId: string,
    piece: { readonly firstSeq: bigint; readonly text: string },
  ): string {
    const key = `${kind}:${itemId}`;
    let record = itemId === "" ? undefined : this.#texts.get(key);
    if (record === undefined) {
      this.settle();
      const cell = this.#items.add<TextItem>(place, { kind, text: "", streaming: true });
      record = { cell, text: new StreamedText() };
      this.#texts.set(itemId === "" ? place.key : key, record);
    }
    if (this.#streaming !== record.cell) this.settle();
    this.#streaming = record.cell;
    const added = record.text.add(piece);
    record.cell.item.value = { kind, text: record.text.text, streaming: true };
    return added;
  }

  /** Adds an answer that was not streamed. */
  answer(place: ItemStart, text: string): void {
    this.#items.add(place, { kind: "assistant", text, streaming: false });
  }

  /** The text that was being streamed is complete. */
  settle(): void {
    const cell = this.#streaming;
    if (cell !== undefined) cell.item.value = { ...cell.item.value, streaming: false };
    this.#streaming = undefined;
  }

  /** The texts that were begun get no more pieces. */
  endTurn(): void {
    this.settle();
    this.#texts.clear();
  }
}
