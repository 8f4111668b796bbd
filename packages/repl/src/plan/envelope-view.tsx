import { useRef, useState } from "preact/hooks";
import { CodePane, type CodePaneHandle } from "../look/code-pane.tsx";
import { CopyButton } from "../look/copy-button.tsx";
import { VisibleText } from "../look/visible-text.tsx";

export interface EnvelopeViewProps {
  /** JSON, or what a model wrote in its place. */
  readonly text: string;
  readonly summary: string;
  /** Submits an edited text; undefined: it is only shown. */
  readonly onSubmit: ((text: string) => void) | undefined;
  readonly busy: boolean;
}

/** The raw text of a plan, to read, copy, and edit into a new plan. */
export function EnvelopeView({ text, summary, onSubmit, busy }: EnvelopeViewProps) {
  const [editing, setEditing] = useState(false);
  const pane = useRef<CodePaneHandle>(null);
  const pretty = indented(text);
  const submit = () => {
    onSubmit?.(pane.current?.text ?? pretty);
    setEditing(false);
  };
  return (
    <details class="envelope">
      <summary>{summary}</summary>
      {editing ? (
        <CodePane
          handle={pane}
          text={pretty}
          path="plan.json"
          label="The plan as JSON"
          onSave={submit}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <VisibleText in="pre" class="g-code" tabIndex={0} text={pretty} />
      )}
      <div class="g-row">
        {editing ? (
          <>
            <button type="button" class="button" disabled={busy} onClick={submit}>
              Submit as a new draft
            </button>
            <button type="button" class="button button-quiet" onClick={() => setEditing(false)}>
              Cancel
            </button>
          </>
        ) : (
          onSubmit !== undefined && (
            <button type="button" class="button button-quiet" disabled={busy} onClick={() => setEditing(true)}>
              Edit
            </button>
          )
        )}
        <CopyButton text={text} label="Copy" />
      </div>
    </details>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
