import { useRef } from "preact/hooks";
import { AnswerButton } from "../confirmation/answer-button.tsx";
import { useArming } from "../confirmation/arming.ts";
import { useCardFocus } from "../confirmation/card-focus.ts";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";
import type { BranchQuestion as AskedBranch, BranchAnswer } from "./branch-store.ts";

/** Asks where the agent shall write, above the prompt that waits for it. The Enter that sent the prompt answers nothing here. */
export function BranchQuestion({ control }: { readonly control: ReplControl }) {
  const { branch } = control;
  const question = branch.question.value;
  if (question === undefined) return null;
  return <Question question={question} busy={branch.busy.value} onAnswer={(answer) => branch.answer(answer)} />;
}

interface QuestionProps {
  readonly question: AskedBranch;
  readonly busy: boolean;
  readonly onAnswer: (answer: BranchAnswer) => void;
}

function Question({ question, busy, onAnswer }: QuestionProps) {
  const root = useRef<HTMLElement>(null);
  const { armed, arming } = useArming(root);
  useCardFocus(root);
  const answering = { armed, arming, disabled: busy };
  const { situation, wanted, changedFiles, refusal } = question;
  return (
    <div class="question-tray">
      <section
        ref={root}
        tabIndex={-1}
        class="branch-question"
        aria-label="Branch for the agent"
        onPointerLeave={() => arming.leave()}
      >
        <p class="branch-situation">
          <Icon name="branch" />
          <span>{situation}</span>
        </p>
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
        {refusal !== undefined && (
          <p class="branch-refusal" role="alert">
            {refusal.message} {refusal.hint}
          </p>
        )}
        <div class="branch-answers">
          <AnswerButton name="create" class="button" {...answering} onAnswer={() => onAnswer("create")}>
            {refusal !== undefined ? "Try again" : "Create it"}
          </AnswerButton>
          <AnswerButton
            name="proposal"
            class="button button-quiet"
            {...answering}
            onAnswer={() => onAnswer("proposal")}
          >
            Use Proposal mode instead
          </AnswerButton>
          <AnswerButton
            name="look"
            class="link"
            title="For questions about the code: the server refuses every change"
            {...answering}
            onAnswer={() => onAnswer("look")}
          >
            Only look, write nothing
          </AnswerButton>
        </div>
      </section>
    </div>
  );
}
