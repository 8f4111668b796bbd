import type { ReviewLayout } from "@gennai/client/host/review-state";
import { reviewKeys } from "./review-keys.ts";

export interface ReviewHeadProps {
  readonly files: number;
  readonly hunks: number;
  readonly layout: ReviewLayout;
  /** True if nothing can be decided now. */
  readonly locked: boolean;
  /** True if the keys are shown. */
  readonly help: boolean;
  readonly onLayout: (layout: ReviewLayout) => void;
  readonly onDecideAll: (decision: { readonly type: "keep" | "undo" }) => void;
  readonly onHelp: (shown: boolean) => void;
  /** Shows all files in the editor's own diff; undefined: not available. */
  readonly onShowAll: (() => void) | undefined;
}

/** Summary of a review, and actions on all of it. */
export function ReviewHead(props: ReviewHeadProps) {
  const { files, hunks, layout, locked, help, onLayout, onDecideAll, onHelp, onShowAll } = props;
  return (
    <>
      <header class="review-head">
        <h3>
          {files === 1 ? "1 file" : `${files} files`}, {hunks === 1 ? "1 hunk" : `${hunks} hunks`}
        </h3>
        <span class="g-row">
          <LayoutChoice {...{ layout, onLayout }} />
          {!locked && (
            <>
              <button type="button" class="button button-quiet" onClick={() => onDecideAll({ type: "keep" })}>
                Keep all
              </button>
              <button type="button" class="button button-quiet" onClick={() => onDecideAll({ type: "undo" })}>
                Refuse all
              </button>
            </>
          )}
          {onShowAll !== undefined && !locked && (
            <button type="button" class="button button-quiet" onClick={onShowAll}>
              Show all in editor
            </button>
          )}
          <button type="button" class="button button-quiet" aria-expanded={help} onClick={() => onHelp(!help)}>
            Keys
          </button>
        </span>
      </header>
      {help && <KeyHelp />}
    </>
  );
}

const layouts: readonly { readonly layout: ReviewLayout; readonly word: string }[] = [
  { layout: "auto", word: "Fit width" },
  { layout: "unified", word: "Unified" },
  { layout: "side-by-side", word: "Side by side" },
];

function LayoutChoice(props: { readonly layout: ReviewLayout; readonly onLayout: (layout: ReviewLayout) => void }) {
  return (
    <select
      class="g-field"
      aria-label="Layout of the differences"
      value={props.layout}
      onChange={(event) => {
        const chosen = layouts.find(({ layout }) => layout === event.currentTarget.value);
        if (chosen !== undefined) props.onLayout(chosen.layout);
      }}
    >
      {layouts.map(({ layout, word }) => (
        <option key={layout} value={layout}>
          {word}
        </option>
      ))}
    </select>
  );
}

function KeyHelp() {
  return (
    <dl class="key-help" aria-label="Keys">
      {reviewKeys.map(({ key, says }) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{says}</dd>
        </div>
      ))}
    </dl>
  );
}
