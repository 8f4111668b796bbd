import type { ItemCell, ViewItem } from "../model/view-item.ts";
import { AssistantMessage, Notice, Thinking, TurnEnd, UserMessage } from "./message-items.tsx";
import { ToolCallCard } from "./tool-call-card.tsx";
import { ChangeSetCard, ClientRequestLine, ConfirmationLine, PlanCard, ProposalCard } from "./work-items.tsx";

/** One place of the chat. It alone is drawn again when what stands there changes. */
export function ChatRow({ cell }: { readonly cell: ItemCell }) {
  if (cell.parentCallId === "") return <ChatItem cell={cell} />;
  return (
    <div class="nested">
      <span class="spoken">Of a sub-agent:</span>
      <ChatItem cell={cell} />
    </div>
  );
}

function ChatItem({ cell }: { readonly cell: ItemCell }) {
  const item = cell.item.value;
  switch (item.kind) {
    case "user-message":
      return <UserMessage item={item} />;
    case "thinking":
      return <Thinking item={item} id={cell.key} />;
    case "assistant":
      return <AssistantMessage item={item} />;
    case "tool-call":
      return <ToolCallCard item={item} id={cell.key} />;
    case "client-request":
      return <ClientRequestLine item={item} />;
    case "confirmation":
      return <ConfirmationLine item={item} />;
    case "proposal":
      return <ProposalCard item={item} />;
    case "change-set":
      return <ChangeSetCard item={item} />;
    case "plan":
      return <PlanCard item={item} />;
    case "notice":
      return <Notice item={item} />;
    case "turn-end":
      return <TurnEnd item={item} seq={cell.seq} />;
  }
}

/** Pixels before anything was measured: near enough for a scroll bar. */
export function estimatedHeight(item: ViewItem): number {
  switch (item.kind) {
    case "assistant":
    case "user-message":
      return 40 + Math.ceil(item.text.length / 70) * 19;
    case "proposal":
      return 52 + item.proposal.changes.length * 22;
    case "change-set":
      return 52 + item.files.length * 22;
    default:
      return 30;
  }
}
