import type { FirstCommit } from "@gennai/client/session/state/workspace-state";
import { useRef } from "preact/hooks";
import { plural } from "../chat/words.ts";
import { AnswerButton } from "../confirmation/answer-button.tsx";
import { useArming } from "../confirmation/arming.ts";
import { useCardFocus } from "../confirmation/card-focus.ts";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";
import { VisibleText } from "../review/diff/visible-text.tsx";
import type { FirstCommitQuestion as AskedFirstCommit } from "./first-commit-store.ts";

/**
 * Offers the first commit of a repository, with all that would be in it and what stays out. It comes beside other questions: what was
 * meant for them answers nothing here.
 */
export function FirstCommitQuestion({ control }: { readonly control: ReplControl }) {
  const { firstCommit } = control.branch;
  const question = firstCommit.question.value;
  if (question === undefined) return null;
  // Another list is another question.
  return (
    <Question
      key={question.planned?.sha256 ?? "refused"}
      question={question}
      onAnswer={(commits) => firstCommit.answer(commits)}
    />
  );
}

interface QuestionProps {
  readonly question: AskedFirstCommit;
  readonly onAnswer: (commits: boolean) => void;
}

function Question({ question, onAnswer }: QuestionProps) {
  const root = useRef<HTMLElement>(null);
  const { armed, arming } = useArming(root);
  useCardFocus(root);
  const { planned, refusal } = question;
  return (
    <div class="question-tray">
      <section
        ref={root}
        tabIndex={-1}
        class="branch-question"
        aria-label="First commit"
        onPointerLeave={() => arming.leave()}
      >
        <p class="branch-situation">
          <Icon name="branch" />
          <span>This repository has no commit yet. With one, git shows what the agent changes.</span>
        </p>
        {planned !== undefined && <Planned planned={planned} />}
        {refusal !== undefined && (
          <p class="branch-refusal" role="alert">
            {refusal.message} {refusal.hint}
          </p>
        )}
        <div class="branch-answers">
          <AnswerButton name="commit" class="button" {...{ armed, arming }} onAnswer={() => onAnswer(true)}>
            {planned === undefined ? "Look again" : `Commit ${plural(planned.fileCount, "file")}`}
          </AnswerButton>
          <AnswerButton
            name="not-now"
            class="button button-quiet"
            {...{ armed, arming }}
            onAnswer={() => onAnswer(false)}
          >
            Not now
          </AnswerButton>
        </div>
      </section>
    </div>
  );
}

function Planned({ planned }: { readonly planned: FirstCommit }) {
  return (
    <>
      <FileNames title={`${plural(planned.fileCount, "file")} on ${planned.branch}`} paths={planned.files} />
      {planned.leftOutCount > 0 && (
        <FileNames
          title={`${plural(planned.leftOutCount, "file")} left out: not for the agent, secret by the name, or for a filter like git-crypt and LFS`}
          paths={planned.leftOut}
        />
      )}
      <p class="quiet">What git ignores stays out as well. No hooks run.</p>
    </>
  );
}

function FileNames({ title, paths }: { readonly title: string; readonly paths: readonly string[] }) {
  return (
    <details class="first-commit-files" open={paths.length <= 8}>
      <summary>{title}</summary>
      <ul>
        {paths.map((path) => (
          <li key={path}>
            <code>
              <VisibleText text={path} />
            </code>
          </li>
        ))}
      </ul>
    </details>
  );
}
