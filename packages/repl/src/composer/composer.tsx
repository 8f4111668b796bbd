import { commandUsage, slashCommands } from "@gennai/client/commands/slash-commands";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { type PromptImage, readImages } from "../control/session/prompt-images.ts";
import { Icon } from "../look/icon.tsx";
import { mentionCompletion } from "./complete-mention.ts";
import { CompletionList, type CompletionSource, completionListId, useCompletion } from "./completion.tsx";
import { droppedUris, mentionDropped } from "./dropped-files.ts";
import { EditorChips, lookAtEditor } from "./editor-chips.tsx";
import { PromptHistory } from "./prompt-history.ts";
import { QueuedPrompts } from "./queued-prompts.tsx";
import { runSlash, type SlashOutcome } from "./run-slash.ts";
import { SettingsBar } from "./settings-bar.tsx";
import { slashPlace } from "./slash-place.ts";
import { usePromptFocus } from "./use-prompt-focus.ts";

/** The style sheet makes the box grow, without a layout in between at each key. */
const growsByItself = globalThis.CSS?.supports?.("field-sizing", "content") === true;

/** The box in which the user writes. Enter sends, Shift+Enter begins a line, arrow up in an empty box brings earlier prompts. */
export function Composer({ control }: { readonly control: ReplControl }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [note, setNote] = useState("");
  const [dropping, setDropping] = useState(false);
  const history = useRef(new PromptHistory());
  const text = control.turns.draft.value;
  const images = control.turns.draftImages.value;
  const progress = control.turns.progress.value;
  const { attachments, draftAdditions } = control.turns;
  const empty = text.trim() === "" && images.length === 0 && attachments.list.value.length === 0;

  // The keyboard of a phone would cover half of the screen.
  usePromptFocus(box, control.host.kind === "editor" || matchMedia("(pointer: fine)").matches);
  useLayoutEffect(() => {
    if (box.current === null || growsByItself) return;
    box.current.style.height = "auto";
    box.current.style.height = `${box.current.scrollHeight + 2}px`;
  }, [text]);
  const additions = draftAdditions.value;
  useEffect(() => {
    if (additions > 0) box.current?.focus();
  }, [additions]);

  useEffect(() => {
    if (progress === "idle" && document.activeElement === box.current) void lookAtEditor(control);
  }, [progress, control]);

  const write = (value: string) => {
    control.turns.draft.value = value;
  };
  const completion = useCompletion([slashCompletion(control), mentionCompletion(control)], (value, caret) => {
    write(value);
    requestAnimationFrame(() => box.current?.setSelectionRange(caret, caret));
  });
  const send = () => {
    if (empty) return;
    const outcome = runSlash(control, text);
    if (outcome === undefined) control.attempts.sendDraft(text.trim());
    else void outcome.then((ended) => told(ended, text));
    write("");
    completion.close();
    setProblems([]);
    setNote("");
    history.current.leave();
  };
  const told = ({ type, note: words = "" }: SlashOutcome, said: string) => {
    setNote(words);
    if (type === "unknown") control.turns.sendDraft(said.trim());
    if (type === "failed" && control.turns.draft.value === "") write(said);
  };
  const add = async (files: readonly File[]) => {
    const read = await readImages(files, control.turns.draftImages.value);
    control.turns.draftImages.value = [...control.turns.draftImages.value, ...read.images];
    setProblems(read.problems);
  };
  const key = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    // An Enter that ends a composition only chooses a word.
    if (event.isComposing || completion.key(event)) return;
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
        if (!hasFiles(event.dataTransfer) && droppedUris(control, event.dataTransfer) === undefined) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={(event) => {
        setDropping(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        const uris = droppedUris(control, event.dataTransfer);
        if (files.length === 0 && uris === undefined) return;
        event.preventDefault();
        if (files.length > 0) void add(files);
        else void mentionDropped(control, uris ?? []).then(setProblems);
      }}
    >
      <QueuedPrompts control={control} />
      {problems.map((problem) => (
        <p key={problem} class="composer-problem tone-warn" role="alert">
          {problem}
        </p>
      ))}
      {note !== "" && (
        <pre class="composer-note" role="status" tabIndex={0}>
          {note}
        </pre>
      )}
      <div class="composer-box">
        <CompletionList completion={completion} />
        <EditorChips control={control} />
        {images.length > 0 && <Thumbnails control={control} images={images} />}
        <textarea
          ref={box}
          class="composer-text"
          rows={1}
          value={text}
          placeholder={progress === "idle" ? "What should be done?" : "Say more: the model reads it with its next step"}
          aria-label="Prompt"
          aria-autocomplete="list"
          {...(completion.suggestions === undefined
            ? {}
            : {
                "aria-controls": completionListId,
                "aria-activedescendant": `${completionListId}-${completion.suggestions.chosen}`,
              })}
          onInput={({ currentTarget }) => {
            history.current.leave();
            setNote("");
            write(currentTarget.value);
            completion.typed(currentTarget.value, currentTarget.selectionStart);
          }}
          onFocus={() => void lookAtEditor(control)}
          onBlur={completion.close}
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
            title={progress === "idle" ? "Send" : "Send to the running turn"}
            aria-label={progress === "idle" ? "Send" : "Send to the running turn"}
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

/** Prompts that were sent, newest first. */
function sentPrompts(control: ReplControl): readonly string[] {
  const cells = control.followed.value?.view.value.cells ?? [];
  const texts = cells.flatMap(({ item }) => (item.value.kind === "user-message" ? [item.value.text] : []));
  return [...new Set(texts.toReversed())];
}

function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") ?? false;
}

/** A picture that is not stored on the server yet. */
function BytesImage(props: {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly label: string;
}) {
  const { bytes, mediaType, label } = props;
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mediaType]);
  return url === undefined ? null : <img class="picture" src={url} alt={label} title={label} />;
}

/** Completes the `/` at the beginning of a prompt with commands. */
export function slashCompletion(control: ReplControl): CompletionSource {
  return (text, caret) => {
    const typed = /^\/([\w.-]*)$/.exec(text.slice(0, caret))?.[1]?.toLowerCase();
    if (typed === undefined) return undefined;
    const behind = text.slice(caret).replace(/^[\w.-]+/, "");
    const found = slashCommands(slashPlace(control)).filter(({ name }) => name.startsWith(typed));
    return Promise.resolve(
      found.map((command) => {
        const { name, argument, description } = command;
        const before = argument === "" || /^\s/.test(behind) ? `/${name}` : `/${name} `;
        return {
          name: commandUsage(command),
          detail: description,
          icon: "chevron",
          done: { text: before + behind, caret: before.length },
          goesOn: false,
        };
      }),
    );
  };
}
