import { questionWords } from "@gennai/client/questions/question-words";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { answerWords } from "@gennai/client/view/answer-words";
import type { ClientRequestItem, ConfirmationItem, ItemCell, ViewItem } from "@gennai/client/view/items/view-item";
import { plural } from "@gennai/protocol/plural";
import { Icon } from "../../look/icon.tsx";
import { VisibleText } from "../../look/visible-text.tsx";
import { useChat } from "../chat-context.ts";
import { FoldButton } from "../fold-button.tsx";
import { AssistantMessage, Notice, Thinking, TurnEnd } from "./message-items.tsx";
import { ToolCallCard } from "./tool-call-card.tsx";
import { UserMessage } from "./user-message.tsx";
import { ChangeSetCard, ClientRequestLine, PlanCard, ProposalCard } from "./work-items.tsx";

interface ChatRowProps {
  readonly cell: ItemCell;
  /** All items of this row, if they are steps of an editor. */
  readonly steps?: readonly ItemCell[] | undefined;
}

/** One row of the chat. Only this is redrawn when its content changes. */
export function ChatRow({ cell, steps = [cell] }: ChatRowProps) {
  if (cell.parentCallId === "") return <ChatItem cell={cell} steps={steps} />;
  return (
    <div class="nested">
      <span class="spoken">Of a sub-agent:</span>
      <ChatItem cell={cell} steps={steps} />
    </div>
  );
}

function ChatItem({ cell, steps }: Required<ChatRowProps>) {
  const item = cell.item.value;
  switch (item.kind) {
    case "user-message":
      return <UserMessage item={item} turnId={cell.turnId} seq={cell.seq} />;
    case "thinking":
      return <Thinking item={item} id={cell.key} />;
    case "assistant":
      return <AssistantMessage item={item} />;
    case "tool-call":
      return <ToolCallCard item={item} id={cell.key} turnId={cell.turnId} seq={cell.seq} />;
    case "client-request":
      return <EditorSteps cells={steps} id={cell.key} />;
    case "confirmation":
      return <ConfirmationLine item={item} id={cell.key} />;
    case "proposal":
      return <ProposalCard item={item} />;
    case "change-set":
      return <ChangeSetCard item={item} />;
    case "plan":
      return <PlanCard item={item} />;
    case "notice":
      return <Notice item={item} turnId={cell.turnId} />;
    case "turn-end":
      return <TurnEnd item={item} seq={cell.seq} />;
  }
}

/** Estimated pixels before the row was measured; exact enough for a scroll bar. */
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

/** What an editor did for the calls around: only among details, except for what still waits or was not answered. */
function EditorSteps({ cells, id }: { readonly cells: readonly ItemCell[]; readonly id: string }) {
  const { control, folds } = useChat();
  const open = folds.of(id, false);
  const steps = cells.flatMap(({ key, item }) => {
    const { value } = item;
    return value.kind === "client-request" ? [{ key, item: value }] : [];
  });
  const done = steps.filter(({ item }) => isQuiet(item));
  const shown = open.value ? steps : steps.filter(({ item }) => !isQuiet(item));
  if (shown.length === 0 && !control.details.value) return null;
  return (
    <div class="steps">
      {done.length > 0 && control.details.value && (
        <FoldButton class="steps-head" open={open}>
          {plural(done.length, "step")} in the editor
        </FoldButton>
      )}
      {shown.map(({ key, item }) => (
        <ClientRequestLine key={key} item={item} />
      ))}
    </div>
  );
}

function isQuiet({ state }: ClientRequestItem): boolean {
  return state === "answered" || state === "cancelled";
}

/** A question of the gate in the conversation: what was asked, the answer, and who gave it. */
function ConfirmationLine({ item, id }: { readonly item: ConfirmationItem; readonly id: string }) {
  const { control, folds } = useChat();
  const askedAgain = folds.of(`${id}:again`, false);
  const { question, state, genuine } = item;
  const statement = question.maskedStatement ?? question.actionStatement;
  return (
    <div class={`line line-question line-${lineLook(item)}`}>
      <Icon name="question" />
      <VisibleText in="span" text={questionWords({ ...question, actionStatement: statement }).what} />
      <span class="quiet">{answerWords(item, control.host.launch.clientId)}</span>
      {!genuine && <span class="badge badge-bad">does not fit its digest: cannot be allowed</span>}
      {state === "timeout" && genuine && !askedAgain.value && (
        <button
          type="button"
          class="button button-quiet"
          title="Tells the model that you are here now, so that it tries again and you are asked"
          onClick={() => {
            askedAgain.value = true;
            control.turns.send(askAgainText(statement));
          }}
        >
          Ask again
        </button>
      )}
    </div>
  );
}

/** The user's words to a model whose question nobody answered. They permit nothing: the same call asks once more. */
function askAgainText(statement: string): string {
  // The text contains the model's own command: nothing in it counts as the user's words, and no path in it is fetched.
  const what = statement === "" ? "your last question." : `this:\n\n${fencedText(statement)}\n`;
  return `I was not there to answer ${what}\nI am here now. If it is still needed, do the same again, so that I am asked once more.`;
}

function lineLook({ state, reply }: ConfirmationItem): string {
  return reply?.answer === "no" ? "denied" : state;
}
