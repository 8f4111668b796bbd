import { errorMessage } from "@gennai/protocol/error-message";
import { plural } from "@gennai/protocol/plural";
import { useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";

/** The result of a review. */
export type ReviewOutcome =
  | { readonly type: "applied"; readonly files: readonly string[]; readonly changeSetId: string | undefined }
  | { readonly type: "nothing-kept" }
  /** Nothing was written. */
  | { readonly type: "refused"; readonly reason: string; readonly changedFiles: readonly string[] }
  | { readonly type: "undone" };

export interface OutcomeViewProps {
  readonly outcome: ReviewOutcome;
  /** undefined: it cannot be taken back here. */
  readonly onUndo: ((changeSetId: string) => Promise<void>) | undefined;
  /** Sends a prompt. */
  readonly onAskAgain: (prompt: string) => void;
  /** Returns to the decisions; undefined: they are final. */
  readonly onBack: (() => void) | undefined;
}

/** The end of a review: what was written, or why nothing was, and what to do next. */
export function OutcomeView({ outcome, onUndo, onAskAgain, onBack }: OutcomeViewProps) {
  const [problem, setProblem] = useState("");
  const [undoing, setUndoing] = useState(false);
  const undo = (changeSetId: string) => {
    setUndoing(true);
    onUndo?.(changeSetId)
      .catch((error: unknown) => setProblem(errorMessage(error)))
      .finally(() => setUndoing(false));
  };
  switch (outcome.type) {
    case "applied": {
      const { files, changeSetId } = outcome;
      return (
        <div class="g-notice g-notice-good" role="status">
          <p>{files.length === 0 ? "Applied." : `Applied to ${plural(files.length, "file")}.`}</p>
          <Names paths={files} />
          {changeSetId !== undefined && onUndo !== undefined && (
            <button type="button" class="button button-quiet" disabled={undoing} onClick={() => undo(changeSetId)}>
              Undo what was applied
            </button>
          )}
          {problem !== "" && (
            <p role="alert">
              Not undone: <VisibleText text={problem} />
            </p>
          )}
        </div>
      );
    }
    case "nothing-kept":
      return (
        <p class="g-notice" role="status">
          Nothing was kept, and no file was changed. The model knows.
        </p>
      );
    case "undone":
      return (
        <p class="g-notice" role="status">
          What was applied is undone.
        </p>
      );
    case "refused": {
      const { reason, changedFiles } = outcome;
      return (
        <div class="g-notice g-notice-bad" role="alert">
          <p>
            {reason.startsWith("Nothing was ") ? "" : "Nothing was written. "}
            <VisibleText text={reason} />
          </p>
          <Names paths={changedFiles} />
          <div class="g-row">
            <button type="button" class="button" onClick={() => onAskAgain(askAgainPrompt(changedFiles))}>
              Ask for the change again
            </button>
            {onBack !== undefined && (
              <button type="button" class="button button-quiet" onClick={onBack}>
                Back to the review
              </button>
            )}
          </div>
        </div>
      );
    }
  }
}

/** The prompt to the model after a refusal. */
function askAgainPrompt(changedFiles: readonly string[]): string {
  if (changedFiles.length === 0)
    return "The proposal could not be applied. Read the files again and propose the change again.";
  const named = changedFiles.slice(0, 20).map((path) => JSON.stringify(path));
  const more = changedFiles.length > 20 ? ` and ${changedFiles.length - 20} more` : "";
  const has = changedFiles.length === 1 ? "has" : "have";
  return `${named.join(", ")}${more} ${has} changed since you made the proposal. Read again and propose the change again.`;
}

function Names({ paths }: { readonly paths: readonly string[] }) {
  if (paths.length === 0) return null;
  return (
    <ul class="g-paths">
      {paths.slice(0, 50).map((path) => (
        <VisibleText in="li" key={path} text={path} />
      ))}
      {paths.length > 50 && <li>and {paths.length - 50} more</li>}
    </ul>
  );
}
