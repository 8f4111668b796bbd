import { ConfirmationCard } from "../confirmation/confirmation-card.tsx";
import type { ReplControl } from "../control/repl-control.ts";

/** The oldest question that waits for this person. It stands above the prompt, whatever panel is shown. */
export function QuestionTray({ control }: { readonly control: ReplControl }) {
  const open = control.confirmations.open.value;
  const first = open[0];
  if (first === undefined) return null;
  return (
    <div class="question-tray">
      <ConfirmationCard
        question={first}
        waiting={open.length - 1}
        onAnswer={(reply) => {
          control.confirmations.answer(first.requestId, reply);
        }}
      />
    </div>
  );
}
