import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";

/** What waits for the running turn to end, in its order. */
export function QueuedPrompts({ control }: { readonly control: ReplControl }) {
  const prompts = control.turns.queue.prompts.value;
  if (prompts.length === 0) return null;
  const held = control.turns.queue.held.value;
  const idle = control.turns.progress.value === "idle";
  return (
    <section class="queue" aria-label="Prompts that wait">
      <header class="queue-head">
        <span title={held ? "The last turn did not come to its end" : ""}>{held ? "Held back" : "Next"}</span>
        {held && idle && (
          <button type="button" class="link" onClick={() => control.turns.sendQueued()}>
            Send now
          </button>
        )}
      </header>
      <ol class="queue-list">
        {prompts.map((prompt) => (
          <li key={prompt.id}>
            <span class="queue-text" title={prompt.text}>
              {prompt.text}
              {prompt.images.length > 0 && ` (${prompt.images.length} pictures)`}
            </span>
            {!idle && (
              <button
                type="button"
                class="link"
                title="Stops the running turn and says this at once"
                onClick={() => void control.turns.steer(prompt.id)}
              >
                Stop and send
              </button>
            )}
            <button
              type="button"
              class="tool-button"
              title="Write it again"
              aria-label={`Write again: ${prompt.text}`}
              onClick={() => {
                const taken = control.turns.queue.remove(prompt.id);
                if (taken === undefined) return;
                control.turns.draft.value = [control.turns.draft.value, taken.text]
                  .filter((text) => text !== "")
                  .join("\n");
                control.turns.draftImages.value = [...control.turns.draftImages.value, ...taken.images];
              }}
            >
              <Icon name="edit" />
            </button>
            <button
              type="button"
              class="tool-button"
              title="Leave out"
              aria-label={`Leave out: ${prompt.text}`}
              onClick={() => control.turns.queue.remove(prompt.id)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
