import type { EditorContext } from "@gennai/client/session/editor-context";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";

/** What goes along of the editor, by the user's choice: each part can be left out again. */
export function EditorChips({ control }: { readonly control: ReplControl }) {
  const context = control.turns.draftContext.value;
  if (context === undefined) return null;
  const keep = (part: Partial<EditorContext>) => {
    const next = { ...context, ...part };
    control.turns.draftContext.value = isEmpty(next) ? undefined : next;
  };
  const { activeFile, selection, openFiles } = context;
  return (
    <div class="editor-chips">
      {activeFile !== undefined && (
        <Chip
          text={selection === undefined ? activeFile : `${activeFile}:${selection.startLine}-${selection.endLine}`}
          onRemove={() => keep({ activeFile: undefined, selection: undefined })}
        />
      )}
      {openFiles.length > 0 && (
        <Chip
          text={openFiles.length === 1 ? "1 open file" : `${openFiles.length} open files`}
          title={openFiles.join("\n")}
          onRemove={() => keep({ openFiles: [] })}
        />
      )}
    </div>
  );
}

/** Offers what the user looks at; only where there is an editor. */
export function EditorContextButton({ control }: { readonly control: ReplControl }) {
  const { editorContext } = control.home;
  if (editorContext === undefined) return null;
  const offer = async () => {
    const found = await editorContext().catch(() => undefined);
    control.turns.draftContext.value = found === undefined || isEmpty(found) ? undefined : found;
  };
  return (
    <button
      type="button"
      class="tool-button"
      title="Add what the editor shows"
      aria-label="Add what the editor shows"
      onClick={() => void offer()}
    >
      <Icon name="file" />
    </button>
  );
}

function Chip({
  text,
  title = text,
  onRemove,
}: {
  readonly text: string;
  readonly title?: string;
  readonly onRemove: () => void;
}) {
  return (
    <span class="editor-chip" title={title}>
      <span class="mention-path">{text}</span>
      <button type="button" class="editor-chip-remove" aria-label={`Leave out ${text}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  );
}

function isEmpty({ activeFile, openFiles }: EditorContext): boolean {
  return activeFile === undefined && openFiles.length === 0;
}
