import type { ReplPanel } from "@gennai/client/host/repl-host";
import { useRef } from "preact/hooks";
import { ConfirmationCard } from "../confirmation/confirmation-card.tsx";
import { UserQuestionCard } from "../confirmation/user-question-card.tsx";
import type { ReplControl } from "../control/repl-control.ts";
import { QuestionPlace } from "./question-place.tsx";

/** The oldest question to this user, those of the gate first. It is above the prompt, whatever panel is shown. */
export function QuestionTray({ control }: { readonly control: ReplControl }) {
  /** The panel to go back to after the answer; undefined: a person has not left it for the question. */
  const before = useRef<ReplPanel | undefined>(undefined);
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
  const { openText } = control.host;
  const show = (diff: string) => {
    if (openText !== undefined) return void openText({ title: "what would be kept.diff", text: diff, kind: "diff" });
    before.current ??= control.panel.value;
    control.panel.value = "review";
  };
  return (
    <QuestionPlace id={first.requestId}>
      <ConfirmationCard
        question={first}
        waiting={open.length - 1}
        onWait={() => void control.waitFor(first.requestId)}
        onShowDiff={show}
        onAnswer={(reply) => {
          if (before.current !== undefined) control.panel.value = before.current;
          before.current = undefined;
          control.confirmations.answer(first.requestId, reply);
        }}
      />
    </QuestionPlace>
  );
}
