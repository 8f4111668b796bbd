import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type PromptImage, readImages } from "../control/prompt-images.ts";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";
import { BytesImage } from "./bytes-image.tsx";
import { EditorChips, EditorContextButton } from "./editor-chips.tsx";
import { MentionList, mentionListId, useMentions } from "./mention-completion.tsx";
import { PromptHistory } from "./prompt-history.ts";
import { QueuedPrompts } from "./queued-prompts.tsx";
import { SettingsBar } from "./settings-bar.tsx";

/** Where the user writes. Enter sends, Shift and Enter begins a line, arrow up in an empty box brings earlier prompts. */
export function Composer({ control }: { readonly control: ReplControl }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [dropping, setDropping] = useState(false);
  const history = useRef(new PromptHistory());
  const text = control.turns.draft.value;
  const images = control.turns.draftImages.value;
  const progress = control.turns.progress.value;
  const empty = text.trim() === "" && images.length === 0;

  useLayoutEffect(() => {
    if (box.current === null) return;
    box.current.style.height = "auto";
    box.current.style.height = `${box.current.scrollHeight + 2}px`;
  }, [text]);

  const write = (value: string) => {
    control.turns.draft.value = value;
  };
  const mentions = useMentions(control, text, (value, caret) => {
    write(value);
    requestAnimationFrame(() => box.current?.setSelectionRange(caret, caret));
  });
  const send = () => {
    if (empty) return;
    control.turns.send(text.trim(), images, control.turns.draftContext.value);
    write("");
    control.turns.draftImages.value = [];
    control.turns.draftContext.value = undefined;
    mentions.close();
    setProblems([]);
    history.current.leave();
  };
  const add = async (files: readonly File[]) => {
    const read = await readImages(files, control.turns.draftImages.value);
    control.turns.draftImages.value = [...control.turns.draftImages.value, ...read.images];
    setProblems(read.problems);
  };
  const key = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    // Enter that ends a composition chooses a word.
    if (event.isComposing || mentions.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send();
      return;
    }
    if (event.key === "Escape" && progress === "running") {
      event.preventDefault();
      void control.turns.stop();
      return;
    }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    const atEdge = event.key === "ArrowUp" ? selectionStart === 0 : selectionStart === value.length;
    if (selectionStart !== selectionEnd || !(atEdge || history.current.browsing)) return;
    const found = history.current.move(event.key === "ArrowUp" ? 1 : -1, value, () => sentPrompts(control));
    if (found === undefined) return;
    event.preventDefault();
    write(found);
  };

  return (
    <form
      class={dropping ? "composer composer-dropping" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        if (!hasFiles(event.dataTransfer)) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={(event) => {
        setDropping(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        void add(files);
      }}
    >
      <QueuedPrompts control={control} />
      {problems.map((problem) => (
        <p key={problem} class="composer-problem tone-warn" role="alert">
          {problem}
        </p>
      ))}
      <div class="composer-box">
        <MentionList completion={mentions} />
        <EditorChips control={control} />
        {images.length > 0 && <Thumbnails control={control} images={images} />}
        <textarea
          ref={box}
          class="composer-text"
          rows={1}
          value={text}
          placeholder={
            progress === "idle" ? "What shall be done?" : "Say what comes next: it waits for this turn to end"
          }
          aria-label="Prompt"
          aria-autocomplete="list"
          {...(mentions.suggestions === undefined
            ? {}
            : {
                "aria-controls": mentionListId,
                "aria-activedescendant": `${mentionListId}-${mentions.suggestions.chosen}`,
              })}
          onInput={({ currentTarget }) => {
            history.current.leave();
            write(currentTarget.value);
            mentions.typed(currentTarget.value, currentTarget.selectionStart);
          }}
          onBlur={mentions.close}
          onKeyDown={key}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length === 0) return;
            event.preventDefault();
            void add(files);
          }}
        />
        <div class="composer-tools">
          <SettingsBar control={control} />
          <span class="space" />
          <input
            ref={picker}
            type="file"
            accept="image/png,image/jpeg,image/gif,image/webp"
            multiple
            hidden
            onChange={({ currentTarget }) => {
              void add([...(currentTarget.files ?? [])]);
              currentTarget.value = "";
            }}
          />
          <EditorContextButton control={control} />
          <button
            type="button"
            class="tool-button"
            title="Add pictures"
            aria-label="Add pictures"
            onClick={() => picker.current?.click()}
          >
            <Icon name="attach" />
          </button>
          {progress !== "idle" && (
            <button
              type="button"
              class="button button-stop"
              disabled={progress === "stopping"}
              onClick={() => void control.turns.stop()}
            >
              <Icon name={progress === "stopping" ? "loading" : "stop"} spin={progress === "stopping"} />
              {progress === "stopping" ? "Stopping…" : "Stop"}
            </button>
          )}
          <button
            type="submit"
            class="button button-send"
            disabled={empty}
            title={progress === "idle" ? "Send" : "Send after this turn"}
            aria-label={progress === "idle" ? "Send" : "Send after this turn"}
          >
            <Icon name={progress === "idle" ? "send" : "list"} />
          </button>
        </div>
      </div>
    </form>
  );
}

function Thumbnails({ control, images }: { readonly control: ReplControl; readonly images: readonly PromptImage[] }) {
  return (
    <div class="pictures">
      {images.map((image) => (
        <span key={image.id} class="thumbnail">
          <BytesImage bytes={image.bytes} mediaType={image.mediaType} label={image.name} />
          <button
            type="button"
            class="thumbnail-remove"
            aria-label={`Leave out ${image.name}`}
            onClick={() => {
              control.turns.draftImages.value = control.turns.draftImages.value.filter(({ id }) => id !== image.id);
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
    </div>
  );
}

/** Newest first. */
function sentPrompts(control: ReplControl): readonly string[] {
  const cells = control.followed.value?.view.value.cells ?? [];
  const texts = cells.flatMap(({ item }) => (item.value.kind === "user-message" ? [item.value.text] : []));
  return [...new Set(texts.toReversed())];
}

function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") ?? false;
}
