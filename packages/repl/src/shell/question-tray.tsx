import { ConfirmationCard } from "../confirmation/confirmation-card.tsx";
import { UserQuestionCard } from "../confirmation/user-question-card.tsx";
import type { ReplControl } from "../control/repl-control.ts";
import { QuestionPlace } from "./question-place.tsx";

/** The oldest question to this user, those of the gate first. It is above the prompt, whatever panel is shown. */
export function QuestionTray({ control }: { readonly control: ReplControl }) {
  const open = control.confirmations.open.value;
  const first = open[0];
  const asked = control.userQuestions.open.value[0];
  if (first === undefined && asked !== undefined) {
    return (
      <QuestionPlace id={asked.id}>
        <UserQuestionCard asked={asked} onAnswer={(reply) => control.userQuestions.answer(asked.id, reply)} />
      </QuestionPlace>
    );
  }
  if (first === undefined) return null;
  return (
    <QuestionPlace id={first.requestId}>
      <ConfirmationCard
        question={first}
        waiting={open.length - 1}
        onWait={() => void control.waitFor(first.requestId)}
        onAnswer={(reply) => {
          control.confirmations.answer(first.requestId, reply);
        }}
      />
    </QuestionPlace>
  );
}
