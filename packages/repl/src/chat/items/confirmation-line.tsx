import { questionWords } from "@gennai/client/questions/question-words";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { answerWords } from "@gennai/client/view/answer-words";
import type { ConfirmationItem } from "@gennai/client/view/items/view-item";
import { Icon } from "../../look/icon.tsx";
import { VisibleText } from "../../look/visible-text.tsx";
import { useChat } from "../chat-context.ts";

/** A question of the gate in the conversation: what was asked, the answer, and who gave it. */
export function ConfirmationLine({ item, id }: { readonly item: ConfirmationItem; readonly id: string }) {
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
