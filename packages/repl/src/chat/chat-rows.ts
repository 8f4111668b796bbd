import type { ItemCell } from "@gennai/client/view/items/view-item";

/** One row of the chat: an item, or several steps of an editor. */
export interface ChatRowCells {
  readonly key: string;
  /** One item, or several, all of which are requests to an editor. */
  readonly cells: readonly ItemCell[];
}

/**
 * The rows of a conversation. The server's requests to an editor share one row for all consecutive calls: they are of little
 * interest, and would separate the calls. Rows are only appended, like cells.
 */
export class ChatRows {
  readonly #rows: ChatRowCells[] = [];
  #seen = 0;
  /** The row that further steps join, and the sub-agent's call that they belong to. */
  #steps: { readonly row: number; readonly parentCallId: string } | undefined;

  /** @param cells those of the last call, and maybe more */
  grow(cells: readonly ItemCell[]): readonly ChatRowCells[] {
    for (; this.#seen < cells.length; this.#seen += 1) {
      const cell = cells[this.#seen];
      if (cell !== undefined) this.#add(cell);
    }
    return this.#rows;
  }

  #add(cell: ItemCell): void {
    const { kind } = cell.item.peek();
    const { key, parentCallId } = cell;
    if (kind !== "client-request") {
      if (kind !== "tool-call") this.#steps = undefined;
      this.#rows.push({ key, cells: [cell] });
      return;
    }
    const before = this.#steps?.parentCallId === parentCallId ? this.#rows[this.#steps.row] : undefined;
    if (before === undefined || this.#steps === undefined) {
      this.#steps = { row: this.#rows.length, parentCallId };
      this.#rows.push({ key, cells: [cell] });
    } else {
      this.#rows[this.#steps.row] = { ...before, cells: [...before.cells, cell] };
    }
  }
}
