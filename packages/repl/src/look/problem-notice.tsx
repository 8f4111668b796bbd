import { CopyButton } from "./copy-button.tsx";
import { type Problem, problemDetails } from "./problem.ts";
import { VisibleText } from "./visible-text.tsx";

export interface ProblemNoticeProps {
  readonly problem: Problem;
  /** undefined: the notice cannot be closed. */
  readonly onDismiss?: () => void;
}

/** A problem with what to do next, its code, and its details to copy. */
export function ProblemNotice({ problem, onDismiss }: ProblemNoticeProps) {
  return (
    <div class="g-notice g-notice-bad" role="alert">
      <p>
        <strong>{problem.action} failed.</strong> <VisibleText text={problem.message} />
      </p>
      {problem.hint !== "" && <VisibleText in="p" text={problem.hint} />}
      <div class="g-row">
        <VisibleText in="code" class="g-quiet" text={problem.code} />
        <CopyButton text={problemDetails(problem)} label="Copy Details" />
        {onDismiss !== undefined && (
          <button type="button" class="button button-quiet" onClick={onDismiss}>
            Dismiss
          </button>
        )}
      </div>
    </div>
  );
}
