import { useMemo } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { ChatRows } from "../model/chat-rows.ts";
import type { SessionView } from "../model/session-view.ts";
import { type ChatContext, ChatProvider, Folds } from "./chat-context.ts";
import { ChatRow, estimatedHeight } from "./chat-row.tsx";
import { rowName } from "./row-name.ts";
import { VirtualList } from "./virtual-list.tsx";

/** A session as a conversation. */
export function ChatView({ control, view }: { readonly control: ReplControl; readonly view: SessionView | undefined }) {
  const context = useMemo<ChatContext>(() => ({ control, folds: new Folds() }), [control, view]);
  const chatRows = useMemo(() => new ChatRows(), [view]);
  // Read so that what was added is drawn.
  const count = view?.count.value ?? 0;
  const rows = chatRows.grow(count === 0 ? [] : (view?.cells ?? []));
  return (
    <ChatProvider value={context}>
      <VirtualList
        count={rows.length}
        label="Conversation"
        jumpLabel="Jump to newest"
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

/** What was just sent, until the log shows it. */
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
