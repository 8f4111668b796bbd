import { type Ref } from "preact";
import { useEffect, useImperativeHandle, useRef, useState } from "preact/hooks";
import type { CodeEditor } from "./code-editor.ts";

export interface CodePaneProps {
  /** Lines end in a line feed. A different text later needs a different `key`. */
  readonly text: string;
  /** Its name alone decides the language. */
  readonly path: string;
  readonly label: string;
  readonly readOnly?: boolean;
  /** Number that the first line gets; 1 by default. */
  readonly firstLine?: number;
  readonly handle?: Ref<CodePaneHandle>;
  /** Called at Ctrl+Enter. */
  readonly onSave?: () => void;
  /** Called at Escape. */
  readonly onCancel?: () => void;
}

export interface CodePaneHandle {
  /** The present text; lines end in a line feed. */
  readonly text: string;
}

/**
 * Code in colours, to edit or only to read. The editor is loaded when the first pane is shown; if it cannot be loaded, a plain
 * text field takes its place.
 */
export function CodePane(props: CodePaneProps) {
  const { text, path, label, readOnly = false, firstLine = 1, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<CodeEditor | undefined>(undefined);
  const [isPlain, setPlain] = useState(false);
  const newest = useRef(props);
  newest.current = props;
  const save = () => newest.current.onSave?.();
  const cancel = () => newest.current.onCancel?.();
  useImperativeHandle(handle ?? null, () => ({
    get text() {
      return editor.current?.text ?? field.current?.value ?? text;
    },
  }));
  useEffect(() => {
    let gone = false;
    import("./code-editor.ts").then(
      ({ CodeEditor }) => {
        if (gone || host.current === null) return;
        const options = { text, path, label, readOnly, firstLine, onSave: save, onCancel: cancel };
        editor.current = new CodeEditor({ ...options, host: host.current });
        if (!readOnly) editor.current.focus();
      },
      () => {
        if (!gone) setPlain(true);
      },
    );
    return () => {
      gone = true;
      editor.current?.[Symbol.dispose]();
      editor.current = undefined;
    };
  }, []);
  useEffect(() => {
    if (isPlain && !readOnly) field.current?.focus();
  }, [isPlain]);
  if (!isPlain) return <div ref={host} class="code-pane" />;
  return (
    <textarea
      ref={field}
      class="g-field g-code"
      aria-label={label}
      rows={Math.min(30, Math.max(4, text.split("\n").length + 1))}
      defaultValue={text}
      readOnly={readOnly}
      spellcheck={false}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          cancel();
        } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          save();
        }
      }}
    />
  );
}
