import { splitLines } from "@gennai/protocol/diff/line-edit";
import { useMemo, useRef, useState } from "preact/hooks";
import { CodePane, type CodePaneHandle } from "../look/code-pane.tsx";
import { textForField, textFromField } from "../review/hunk-edit.ts";
import type { EditableAction } from "./edit-action.ts";

interface ActionEditorProps {
  readonly action: EditableAction;
  readonly busy: boolean;
  readonly onSubmit: (text: string) => void;
}

const words: Record<EditableAction["field"], string> = {
  command: "command",
  content: "file",
  patch: "patch",
};

/** Edits the command, file or patch of an action. The result is a new plan: a draft that nobody has approved. */
export function ActionEditor({ action, busy, onSubmit }: ActionEditorProps) {
  const [editing, setEditing] = useState(false);
  const pane = useRef<CodePaneHandle>(null);
  const word = words[action.field];
  const lines = useMemo(() => splitLines(action.text), [action.text]);
  const field = textForField(lines);
  if (!editing || field === undefined) {
    return (
      <button
        type="button"
        class="button button-quiet"
        disabled={busy || field === undefined}
        title={field === undefined ? "It holds characters that a text field would change." : undefined}
        onClick={() => setEditing(true)}
      >
        Edit {word}
      </button>
    );
  }
  const submit = () => {
    setEditing(false);
    onSubmit(textFromField(pane.current?.text ?? field, lines));
  };
  return (
    <div class="plan-action-editor">
      <CodePane
        handle={pane}
        text={field}
        path={action.path}
        label={`The ${word} of the action`}
        onSave={submit}
        onCancel={() => setEditing(false)}
      />
      <div class="g-row">
        <button type="button" class="button" disabled={busy} onClick={submit}>
          Submit as a new draft
        </button>
        <button type="button" class="button button-quiet" onClick={() => setEditing(false)}>
          Cancel
        </button>
      </div>
    </div>
  );
}
