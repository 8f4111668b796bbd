import { wordsInEditor } from "@gennai/client/session/text/words-in-editor";
import type { AssistantItem, NoticeItem, ThinkingItem, TurnEndItem } from "@gennai/client/view/items/view-item";
import { useRef } from "preact/hooks";
import { CopyButton } from "../../look/copy-button.tsx";
import { copyText } from "../../look/copy-text.ts";
import { Icon } from "../../look/icon.tsx";
import { useChat } from "../chat-context.ts";
import { FoldButton } from "../fold-button.tsx";
import { type MarkdownBlock, markdownBlocks } from "../markdown.ts";
import { countWords, durationWords } from "../words.ts";

export function AssistantMessage({ item }: { readonly item: AssistantItem }) {
  const { openFile } = useChat().control.host;
  return (
    <div class={item.streaming ? "assistant assistant-streaming" : "assistant"}>
      <span class="spoken">Gennai:</span>
      <MarkdownText
        text={item.text}
        onOpenFile={openFile === undefined ? undefined : (path, line) => void openFile({ path, line })}
      />
      {!item.streaming && item.text.length > 200 && (
        <div class="message-tools">
          <CopyButton text={item.text} label="Copy the answer" look="link" />
        </div>
      )}
    </div>
  );
}

export function Thinking({ item, id }: { readonly item: ThinkingItem; readonly id: string }) {
  const { control, folds } = useChat();
  if (!control.showThinking.value) return null;
  const open = folds.of(id, false);
  const lines = item.text.trim().split("\n");
  const line = (item.streaming ? lines.at(-1) : lines[0]) ?? "";
  return (
    <section class="thinking">
      <FoldButton class="thinking-head" open={open}>
        <span class="thinking-word">{item.streaming ? "Thinking…" : "Thought"}</span>
        {!open.value && <span class="thinking-line">{line}</span>}
      </FoldButton>
      {open.value && <div class="thinking-text">{item.text}</div>}
    </section>
  );
}

const noticeIcons = { info: "info", warning: "warning", error: "error" } as const;

export function Notice({ item, turnId }: { readonly item: NoticeItem; readonly turnId: string }) {
  const { control } = useChat();
  // All of it went along with the prompt, which showed it; a summary of what was dropped has a hint.
  if (item.topic === "context" && item.level === "info" && item.hint === "" && !control.details.value) return null;
  // The button does what is told where commands are typed.
  const hasButton = item.level === "warning" && item.code === "mcp_server_unaccepted";
  const [text, hint] = [wordsInEditor(item.text), hasButton ? "" : wordsInEditor(item.hint)];
  const details = [text, hint, item.code === "" ? "" : `Code: ${item.code}`].filter((line) => line !== "");
  return (
    <div class={`notice notice-${item.level}`}>
      <Icon name={item.topic === "rules" && item.level === "info" ? "shield" : noticeIcons[item.level]} />
      <div class="notice-text">
        <div>{text}</div>
        {hint !== "" && <div class="notice-hint">{hint}</div>}
        {hasButton && <LookAtServers />}
        {item.level === "error" && (
          <div class="notice-tools">
            <GoOn turnId={turnId} />
            {item.code.startsWith("model_") && <ChooseAnotherModel />}
            {item.code !== "" && <code>{item.code}</code>}
            <CopyButton text={details.join("\n")} label="Copy details" look="link" />
          </div>
        )}
      </div>
    </div>
  );
}

/** Only for the last turn, and only until another one begins. */
function GoOn({ turnId }: { readonly turnId: string }) {
  const { control } = useChat();
  const cutOff = control.followed.value?.view.value.facts.value.cutOffTurn;
  if (cutOff === undefined || cutOff.turnId !== turnId) return null;
  return (
    <button
      type="button"
      class="button button-quiet"
      disabled={control.turns.progress.value !== "idle"}
      onClick={() => void control.turns.goOn(turnId)}
    >
      {cutOff.waited ? "Ask again" : "Go on"}
    </button>
  );
}

/** Opens the panel that shows what the servers would run, where they are accepted. */
function LookAtServers() {
  const { control } = useChat();
  return (
    <div class="notice-tools">
      <button
        type="button"
        class="button button-quiet"
        onClick={() => {
          control.panel.value = "governance";
        }}
      >
        Look at it
      </button>
    </div>
  );
}

/** Offers another model, which may work where this one fails; its key is set in the same place. */
function ChooseAnotherModel() {
  const { control } = useChat();
  return (
    <button type="button" class="button button-quiet" onClick={() => control.models.open()}>
      Choose a model
    </button>
  );
}

const outcomes = { completed: "Done", error: "Failed", cancelled: "Stopped", interrupted: "Interrupted" } as const;

export function TurnEnd({ item, seq }: { readonly item: TurnEndItem; readonly seq: bigint }) {
  const { control } = useChat();
  const sessionId = control.followed.value?.session.sessionId;
  const tokens = item.usage.inputTokens + item.usage.outputTokens;
  const words = [
    outcomes[item.outcome],
    item.duration === undefined ? "" : durationWords(item.duration),
    tokens === 0 ? "" : `${countWords(tokens)} tokens`,
  ].filter((text) => text !== "");
  return (
    <div class={`turn-end turn-end-${item.outcome}`}>
      <span>{words.join(" · ")}</span>
      {item.changedFiles.length > 0 && (
        <button
          type="button"
          class="tool-button quiet-button"
          title="Restore to before this turn…"
          aria-label="Restore to before this turn…"
          onClick={() => void control.offerRestore(item.turnId)}
        >
          <Icon name="discard" />
        </button>
      )}
      {sessionId !== undefined && (
        <button
          type="button"
          class="tool-button quiet-button"
          title="Go on from here in a copy of this session"
          aria-label="Go on from here in a copy of this session"
          onClick={() => void control.sessions.fork(sessionId, seq)}
        >
          <Icon name="fork" />
        </button>
      )}
    </div>
  );
}

interface MarkdownTextProps {
  readonly text: string;
  /** Opens a file of the workspace; without it, paths are plain text. */
  readonly onOpenFile?: ((path: string, line?: number) => void) | undefined;
}

/** Untrusted Markdown. A block that did not change keeps its element, and with it the selection. */
function MarkdownText({ text, onOpenFile }: MarkdownTextProps) {
  const before = useRef<ReadonlyMap<string, MarkdownBlock>>(new Map());
  const blocks = markdownBlocks(text, before.current);
  before.current = blocks;
  const open = (event: Event) => {
    const path =
      event.target instanceof Element ? event.target.closest("a.path")?.getAttribute("data-path") : undefined;
    if (path === null || path === undefined) return;
    event.preventDefault();
    const [, file = path, line] = /^(.*?)(?:(?::|#L)(\d+)(?:[:-].*)?)?$/.exec(path) ?? [];
    onOpenFile?.(file, line === undefined ? undefined : Number(line));
  };
  const click = (event: MouseEvent) => {
    const copy = event.target instanceof Element ? event.target.closest("button[data-copy]") : null;
    if (copy === null) return open(event);
    const code = copy.closest(".code-block")?.querySelector("code")?.textContent ?? "";
    void copyText(code).then((done) => {
      copy.textContent = done ? "Copied" : "Not copied";
      setTimeout(() => {
        copy.textContent = "Copy";
      }, 1500);
    });
  };
  return (
    <div
      class={onOpenFile === undefined ? "markdown markdown-no-files" : "markdown"}
      onClick={click}
      onKeyDown={(event) => {
        if (event.key === "Enter") open(event);
      }}
    >
      {[...blocks.values()].map((html, index) => (
        // biome-ignore lint: the html was cleaned, and blocks only ever grow at the end
        <div key={index} class="markdown-block" dangerouslySetInnerHTML={{ __html: html }} />
      ))}
    </div>
  );
}
