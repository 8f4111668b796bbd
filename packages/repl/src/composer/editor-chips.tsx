import type { EditorContext } from "@gennai/client/host/editor-context";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../look/icon.tsx";

/** What the user chose to send along from the editor; each part can be left out again. */
export function EditorChips({ control }: { readonly control: ReplControl }) {
  const { draftContext, attachments } = control.turns;
  const context = draftContext.value ?? { activeFile: undefined, selection: undefined, openFiles: [] };
  const attached = attachments.list.value;
  if (draftContext.value === undefined && attached.length === 0) return null;
  const keep = (part: Partial<EditorContext>) => {
    const next = { ...context, ...part };
    draftContext.value = isEmpty(next) ? undefined : next;
  };
  const { activeFile, selection, openFiles } = context;
  return (
    <div class="editor-chips">
      {activeFile !== undefined && (
        <Chip
          text={selection === undefined ? activeFile : `${activeFile}:${selection.startLine}-${selection.endLine}`}
          onRemove={() => {
            control.turns.leftOut.value = activeFile;
            keep({ activeFile: undefined, selection: undefined });
          }}
        />
      )}
      {openFiles.length > 0 && (
        <Chip
          text={openFiles.length === 1 ? "1 open file" : `${openFiles.length} open files`}
          title={openFiles.join("\n")}
          onRemove={() => keep({ openFiles: [] })}
        />
      )}
      {attached.map(({ id, title, text }) => (
        <Chip key={id} text={title} title={text.slice(0, 2000)} onRemove={() => attachments.remove(id)} />
      ))}
    </div>
  );
}

/**
 * Has the file and selection that the user looks at go along, unless they were left out. Not during a turn: what brings something
 * along waits for its end.
 */
export async function lookAtEditor({ host, turns }: ReplControl): Promise<void> {
  const found = await host.editorContext?.().catch(() => undefined);
  if (turns.progress.value !== "idle") return;
  if (found?.activeFile !== turns.leftOut.value) turns.leftOut.value = "";
  if (found?.activeFile === undefined || turns.leftOut.value !== "") return;
  turns.draftContext.value = { ...found, openFiles: turns.draftContext.value?.openFiles ?? [] };
}

/** Adds the names of all open files; only if there is an editor. */
export function OpenFilesButton({ control }: { readonly control: ReplControl }) {
  const { editorContext } = control.host;
  if (editorContext === undefined) return null;
  const offer = async () => {
    const found = await editorContext().catch(() => undefined);
    control.turns.draftContext.value = found === undefined || isEmpty(found) ? undefined : found;
  };
  return (
    <button
      type="button"
      class="tool-button"
      title="Add the open files"
      aria-label="Add the open files"
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
