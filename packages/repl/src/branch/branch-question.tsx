import { AnswerButton } from "../confirmation/answer-button.tsx";
import type { ReplControl } from "../control/repl-control.ts";
import { QuestionTray } from "./question-tray.tsx";

/** Asks where the agent should write, above the pending prompt. The Enter key that sent the prompt does not answer it. */
export function BranchQuestion({ control }: { readonly control: ReplControl }) {
  const { branch } = control;
  const question = branch.question.value;
  if (question === undefined) return null;
  const { situation, wanted, changedFiles, refusal } = question;
  const disabled = branch.busy.value;
  return (
    <QuestionTray
      label="Branch for the agent"
      situation={situation}
      refusal={refusal}
      answers={(answering) => (
        <>
          <AnswerButton
            name="create"
            class="button"
            {...answering}
            disabled={disabled}
            onAnswer={() => branch.answer("create")}
          >
            {refusal !== undefined ? "Try again" : "Create this branch"}
          </AnswerButton>
          <AnswerButton
            name="proposal"
            class="button button-quiet"
            {...answering}
            disabled={disabled}
            onAnswer={() => branch.answer("proposal")}
          >
            Use Proposal Mode instead
          </AnswerButton>
          <AnswerButton
            name="look"
            class="link"
            title="For questions about the code: the server refuses every change"
            {...answering}
            disabled={disabled}
            onAnswer={() => branch.answer("look")}
          >
            Only look, write nothing
          </AnswerButton>
        </>
      )}
    >
      {wanted !== undefined && (
        <p>
          <code>{wanted}</code>
          {changedFiles > 0 && (
            <span class="quiet">
              {" "}
              {changedFiles === 1
                ? "1 file that is not committed comes"
                : `${changedFiles} files that are not committed come`}{" "}
              along.
            </span>
          )}
        </p>
      )}
    </QuestionTray>
  );
}
