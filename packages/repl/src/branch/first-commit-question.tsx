import type { FirstCommit } from "@gennai/client/session/workspace-state";
import { plural } from "@gennai/protocol/plural";
import { AnswerButton } from "../confirmation/answer-button.tsx";
import type { ReplControl } from "../control/repl-control.ts";
import { VisibleText } from "../look/visible-text.tsx";
import { QuestionTray } from "./question-tray.tsx";

/**
 * Offers the first commit of a repository: shows what would be in it and what would not. It appears next to other questions, so a
 * key or click that was meant for them does not answer it.
 */
export function FirstCommitQuestion({ control }: { readonly control: ReplControl }) {
  const { firstCommit } = control.branch;
  const question = firstCommit.question.value;
  if (question === undefined) return null;
  const { planned, refusal } = question;
  return (
    <QuestionTray
      // A different list makes it a different question.
      key={planned?.sha256 ?? "refused"}
      label="First commit"
      situation="This repository has no commit yet. With one, git shows what the agent changes."
      refusal={refusal}
      answers={(answering) => (
        <>
          <AnswerButton name="commit" class="button" {...answering} onAnswer={() => firstCommit.answer(true)}>
            {planned === undefined ? "Look again" : `Commit ${plural(planned.fileCount, "file")}`}
          </AnswerButton>
          <AnswerButton
            name="not-now"
            class="button button-quiet"
            {...answering}
            onAnswer={() => firstCommit.answer(false)}
          >
            Not now
          </AnswerButton>
        </>
      )}
    >
      {planned !== undefined && <Planned planned={planned} />}
    </QuestionTray>
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
