import { type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import type { ItemCell, ViewItem } from "./view-item.ts";

/** Where in the log an item begins. */
export type ItemStart = Omit<ItemCell, "item">;

/** A cell whose content can be changed by the class that made it. */
export interface OpenCell<Item extends ViewItem> extends ItemCell<Item> {
  readonly item: Signal<Item>;
}

/** The chat's items in order. The list only grows; each item has a signal of its own. */
export class ItemList {
  readonly #cells: ItemCell[] = [];
  /** The list itself, which grows when an item is added. */
  readonly cells: readonly ItemCell[] = this.#cells;
  readonly #count = signal(0);
  /** Changes when items are added. */
  readonly count: ReadonlySignal<number> = this.#count;

  add<Item extends ViewItem>(place: ItemStart, item: Item): OpenCell<Item> {
    const cell: OpenCell<Item> = { ...place, item: signal(item) };
    this.#cells.push(cell);
    this.#count.value = this.#cells.length;
    return cell;
  }
}
