import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../look/icon.tsx";

/** What goes along with the prompt; each part can be left out. */
export function EditorChips({ control }: { readonly control: ReplControl }) {
  const { draftContext, attachments, leftOut } = control.turns;
  const { activeFile, selection } = draftContext.value ?? {};
  const attached = attachments.list.value;
  if (activeFile === undefined && attached.length === 0) return null;
  return (
    <div class="editor-chips">
      {activeFile !== undefined && (
        <Chip
          text={selection === undefined ? activeFile : `${activeFile}:${selection.startLine}-${selection.endLine}`}
          onRemove={() => {
            leftOut.value = activeFile;
            draftContext.value = undefined;
          }}
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
  turns.draftContext.value = { ...found, openFiles: [] };
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
