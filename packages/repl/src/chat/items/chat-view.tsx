import type { ItemCell, ViewItem } from "@gennai/client/view/items/view-item";
import type { SessionView } from "@gennai/client/view/session-view";
import { useEffect, useMemo } from "preact/hooks";
import type { ReplControl, SoughtCall } from "../../control/repl-control.ts";
import { type ChatContext, ChatProvider, Folds } from "../chat-context.ts";
import { VirtualList } from "../virtual-list.tsx";
import { ChatRow, estimatedHeight } from "./chat-row.tsx";

/** A session shown as a conversation. */
export function ChatView({ control, view }: { readonly control: ReplControl; readonly view: SessionView | undefined }) {
  const context = useMemo<ChatContext>(() => ({ control, folds: new Folds() }), [control, view]);
  const chatRows = useMemo(() => new ChatRows(), [view]);
  // Read to subscribe: new items cause a redraw.
  const count = view?.count.value ?? 0;
  const rows = chatRows.grow(count === 0 ? [] : (view?.cells ?? []));
  const sought = control.sought.value;
  const row = sought === undefined ? -1 : rows.findIndex(({ cells }) => cells.some((cell) => isCall(cell, sought)));
  const soughtRow = useMemo(() => (row === -1 ? undefined : { row }), [row, sought]);
  useEffect(() => {
    const key = row === -1 ? undefined : rows[row]?.key;
    if (key !== undefined) context.folds.of(key, false).value = true;
  }, [soughtRow]);
  return (
    <ChatProvider value={context}>
      <VirtualList
        count={rows.length}
        label="Conversation"
        jumpLabel="Jump to newest"
        sought={soughtRow}
        onKey={(key) => {
          if (key === "d") control.details.value = !control.details.value;
        }}
        sent={control.turns.pending.value?.id}
        keyOf={(row) => rows[row]?.key ?? `${row}`}
        estimate={(row) => {
          const cell = rows[row]?.cells[0];
          return cell === undefined ? 30 : estimatedHeight(cell.item.peek());
        }}
        nameOf={(row) => {
          const cell = rows[row]?.cells[0];
          return cell === undefined ? "" : rowName(cell.item.peek());
        }}
        row={(row) => {
          const [cell] = rows[row]?.cells ?? [];
          if (cell === undefined) return null;
          return <ChatRow cell={cell} steps={rows[row]?.cells} />;
        }}
        footer={<Pending control={control} />}
      />
    </ChatProvider>
  );
}

function isCall(cell: ItemCell, { turnId, callId }: SoughtCall): boolean {
  const item = cell.item.peek();
  return item.kind === "tool-call" && item.callId === callId && cell.turnId === turnId;
}

/** The prompt that was just sent, until the log shows it. */
function Pending({ control }: { readonly control: ReplControl }) {
  const prompt = control.turns.pending.value;
  if (prompt === undefined) return null;
  return (
    <div class="list-row">
      <div class="user-message user-message-pending">
        <span class="spoken">You, on its way:</span>
        <div class="user-text">{prompt.text}</div>
      </div>
    </div>
  );
}

/** Accessible name of a row of the conversation: the speaker. Never changes during the row's life. */
function rowName(item: ViewItem): string {
  return item.kind === "tool-call" ? `Tool call ${item.name}` : names[item.kind];
}

const names: Readonly<Record<Exclude<ViewItem["kind"], "tool-call">, string>> = {
  "user-message": "You",
  thinking: "Thinking",
  assistant: "Gennai",
  "client-request": "Request to the editor",
  confirmation: "Question of the gate",
  proposal: "Proposal",
  "change-set": "Changed files",
  plan: "Plan",
  notice: "Notice",
  "turn-end": "End of the turn",
};

/** One row of the chat: an item, or several steps of an editor. */
interface ChatRowCells {
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
