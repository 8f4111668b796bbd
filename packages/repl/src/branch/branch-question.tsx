import { useEffect, useRef } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";

/** Asks where the agent shall write, above the prompt that waits for it. */
export function BranchQuestion({ control }: { readonly control: ReplControl }) {
  const { branch } = control;
  const question = branch.question.value;
  const busy = branch.busy.value;
  const first = useRef<HTMLButtonElement>(null);
  const asked = question !== undefined;
  useEffect(() => {
    if (asked) first.current?.focus();
  }, [asked]);
  if (question === undefined) return null;
  const { situation, wanted, changedFiles, refusal } = question;
  return (
    <div class="question-tray">
      <section class="branch-question" aria-label="Branch for the agent">
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
          <button ref={first} type="button" class="button" disabled={busy} onClick={() => branch.answer("create")}>
            {refusal !== undefined ? "Try again" : "Create it"}
          </button>
          <button type="button" class="button button-quiet" disabled={busy} onClick={() => branch.answer("proposal")}>
            Use Proposal mode instead
          </button>
          <button
            type="button"
            class="link"
            disabled={busy}
            title="For questions about the code: the server refuses every change"
            onClick={() => branch.answer("look")}
          >
            Only look, write nothing
          </button>
        </div>
      </section>
    </div>
  );
}
