import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ItemCell, ViewItem } from "../view-item.ts";

/** Where an item begins. */
export interface ItemStart {
  readonly key: string;
  readonly seq: bigint;
  readonly turnId: string;
  readonly time: Date | undefined;
  /** The call whose sub-agent it is of; empty for the session's own. */
  readonly parentCallId: string;
}

/** A cell whose content its fold may change. */
export interface OpenCell<Item extends ViewItem> extends ItemCell<Item> {
  readonly item: Signal<Item>;
}

/** The chat's items in order: only ever longer, each with a signal of its own. */
export class ItemList {
  readonly #cells: ItemCell[] = [];
  readonly #count = signal(0);

  /** Grows by what is added; the cells are those of now. */
  get cells(): readonly ItemCell[] {
    return this.#cells;
  }

  /** Tells that there are more. */
  get count(): ReadonlySignal<number> {
    return this.#count;
  }

  add<Item extends ViewItem>(place: ItemStart, item: Item): OpenCell<Item> {
    const cell: OpenCell<Item> = { ...place, item: signal(item) };
    this.#cells.push(cell);
    this.#count.value = this.#cells.length;
    return cell;
  }
}
