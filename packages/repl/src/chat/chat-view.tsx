import { useMemo } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import type { SessionView } from "../model/session-view.ts";
import { type ChatContext, ChatProvider, Folds } from "./chat-context.ts";
import { ChatRow, estimatedHeight } from "./chat-row.tsx";
import { VirtualList } from "./virtual-list.tsx";

/** A session as a conversation. */
export function ChatView({ control, view }: { readonly control: ReplControl; readonly view: SessionView | undefined }) {
  const context = useMemo<ChatContext>(() => ({ control, folds: new Folds() }), [control, view]);
  const count = view?.count.value ?? 0;
  const cells = view?.cells ?? [];
  return (
    <ChatProvider value={context}>
      <VirtualList
        count={count}
        label="Conversation"
        jumpLabel="Jump to newest"
        keyOf={(row) => cells[row]?.key ?? `${row}`}
        estimate={(row) => {
          const cell = cells[row];
          return cell === undefined ? 30 : estimatedHeight(cell.item.peek());
        }}
        row={(row) => {
          const cell = cells[row];
          return cell === undefined ? null : <ChatRow cell={cell} />;
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
