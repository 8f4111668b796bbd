import type { ReviewCounts } from "@gennai/client/host/review-state";
import { plural } from "@gennai/protocol/plural";
import { useLayoutEffect, useRef } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";

/** How far the applying has got. */
export type ApplyStep =
  | { readonly type: "deciding" }
  | { readonly type: "confirming" }
  | { readonly type: "checking" }
  | { readonly type: "applying" };

export interface ApplyBarProps {
  readonly step: ApplyStep;
  readonly counts: ReviewCounts;
  /** Files with something kept. */
  readonly files: number;
  readonly note: string;
  /** Why the last try was not sent. */
  readonly problems: readonly string[];
  readonly onNote: (note: string) => void;
  readonly onStep: (step: ApplyStep) => void;
  readonly onApply: () => void;
}

/** The note to the model, and the button to apply, which asks once more. */
export function ApplyBar({ step, counts, files, note, problems, onNote, onStep, onApply }: ApplyBarProps) {
  const busy = step.type === "checking" || step.type === "applying";
  const confirm = useRef<HTMLButtonElement>(null);
  // Whoever sees the button has it under the Enter key.
  useLayoutEffect(() => {
    if (step.type === "confirming") confirm.current?.focus();
  }, [step.type]);
  const kept = counts.kept + counts.edited;
  return (
    <footer class="apply-bar" aria-label="Apply">
      {problems.length > 0 && (
        <ul class="g-notice g-notice-bad" role="alert">
          {problems.map((problem) => (
            <VisibleText in="li" key={problem} text={problem} />
          ))}
        </ul>
      )}
      <label class="apply-note">
        <span>Note to the model</span>
        <textarea
          class="g-field"
          rows={1}
          value={note}
          placeholder="Why, and what instead"
          disabled={busy}
          onInput={(event) => onNote(event.currentTarget.value)}
        />
      </label>
      {step.type === "confirming" ? (
        <div
          class="apply-confirm"
          role="group"
          aria-label="Confirm"
          onKeyDown={(event) => {
            if (event.key === "Escape") onStep({ type: "deciding" });
            // The key that opened this may still be held.
            if (event.repeat && event.key === "Enter") event.preventDefault();
          }}
        >
          <p>{summaryOf(counts, files)}</p>
          <button ref={confirm} type="button" class="button" onClick={onApply}>
            {kept === 0 ? "Keep nothing" : "Apply now"}
          </button>
          <button type="button" class="button button-quiet" onClick={() => onStep({ type: "deciding" })}>
            Not yet
          </button>
        </div>
      ) : (
        <div class="apply-confirm">
          <p class="g-quiet" role="status">
            {busy ? busyWord(step) : progressOf(counts)}
          </p>
          <button type="button" class="button" disabled={busy} onClick={() => onStep({ type: "confirming" })}>
            {kept === 0 ? "Finish…" : `Apply ${plural(kept, "hunk")}…`}
          </button>
        </div>
      )}
    </footer>
  );
}

function busyWord(step: ApplyStep): string {
  return step.type === "checking" ? "Checking what will be written…" : "Applying…";
}

function progressOf({ kept, undone, edited, open }: ReviewCounts): string {
  const words = [
    kept > 0 ? `${kept} kept` : "",
    edited > 0 ? `${edited} edited` : "",
    undone > 0 ? `${undone} refused` : "",
    open > 0 ? `${open} open` : "",
  ];
  return words.filter((word) => word !== "").join(" · ");
}

function summaryOf({ kept, edited, undone, open }: ReviewCounts, files: number): string {
  const left = open === 0 ? "" : ` ${plural(open, "hunk")} without a decision ${open === 1 ? "is" : "are"} not kept.`;
  if (kept + edited === 0) return `No file will be changed.${left}`;
  const changed = edited === 0 ? "" : `, ${edited} of them edited`;
  const off = undone === 0 ? "" : ` ${plural(undone, "hunk")} refused.`;
  return `${plural(kept + edited, "hunk")}${changed} will be written to ${plural(files, "file")}, all or nothing.${off}${left}`;
}
