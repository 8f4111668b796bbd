import type { Prompt } from "../control/prompt-queue.ts";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../look/icon.tsx";

interface Waiting {
  readonly id: string;
  readonly text: string;
  readonly pictures: number;
}

/** Prompts that the model has not got yet: for the running turn, and for after its end. Each can be taken back. */
export function QueuedPrompts({ control }: { readonly control: ReplControl }) {
  const facts = control.followed.value?.view.value.facts.value;
  const messages = facts?.queuedMessages ?? [];
  const running = facts?.turn?.turnId;
  const told = messages.filter(({ turnId }) => turnId === running);
  const left = messages.filter(({ turnId }) => turnId !== running);
  const atServer = new Set(messages.map(({ messageId }) => messageId));
  const prompts = control.turns.queue.prompts.value.filter(({ id }) => !atServer.has(id));
  const held = left.length > 0 || control.turns.queue.held.value;
  const idle = control.turns.progress.value === "idle";
  return (
    <>
      <WaitingList control={control} title="With the next step" waiting={told.map(messageWaits)} />
      <WaitingList
        control={control}
        title={held ? "Held back" : "Next"}
        hint={held ? "The last turn ended before it was told this" : ""}
        waiting={[...left.map(messageWaits), ...prompts.map(promptWaits)]}
        onSend={held && idle ? () => void control.turns.sendQueued() : undefined}
      />
    </>
  );
}

function messageWaits(message: {
  readonly messageId: string;
  readonly text: string;
  readonly images: readonly unknown[];
}): Waiting {
  return { id: message.messageId, text: message.text, pictures: message.images.length };
}

function promptWaits({ id, text, images }: Prompt): Waiting {
  return { id, text, pictures: images.length };
}

function WaitingList(props: {
  readonly control: ReplControl;
  readonly title: string;
  readonly hint?: string;
  readonly waiting: readonly Waiting[];
  readonly onSend?: (() => void) | undefined;
}) {
  const { control, title, hint = "", waiting, onSend } = props;
  if (waiting.length === 0) return null;
  const idle = control.turns.progress.value === "idle";
  const writeAgain = async (id: string) => {
    const taken = await control.turns.takeBack(id);
    if (taken === undefined) return;
    control.turns.addToDraft(taken.text);
    control.turns.draftImages.value = [...control.turns.draftImages.value, ...taken.images];
  };
  return (
    <section class="queue" aria-label={title}>
      <header class="queue-head">
        <span title={hint}>{title}</span>
        {onSend !== undefined && (
          <button type="button" class="link" onClick={onSend}>
            Send now
          </button>
        )}
      </header>
      <ol class="queue-list">
        {waiting.map(({ id, text, pictures }) => (
          <li key={id}>
            <span class="queue-text" title={text}>
              {text}
              {pictures > 0 && ` (${pictures} pictures)`}
            </span>
            {!idle && (
              <button
                type="button"
                class="link"
                title="Stops the running turn and says this at once"
                onClick={() => void control.turns.stopAndSend(id)}
              >
                Stop and send
              </button>
            )}
            <button
              type="button"
              class="tool-button"
              title="Withdraw it and write it again"
              aria-label={`Write again: ${text}`}
              onClick={() => void writeAgain(id)}
            >
              <Icon name="edit" />
            </button>
            <button
              type="button"
              class="tool-button"
              title="Withdraw it"
              aria-label={`Leave out: ${text}`}
              onClick={() => void control.turns.takeBack(id)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
