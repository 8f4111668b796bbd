import type { ToolCallItem } from "@gennai/client/view/items/view-item";
import { useEffect, useState } from "preact/hooks";
import { useChat } from "../chat/chat-context.ts";
import { durationWords } from "../chat/words.ts";
import { failureOf } from "../look/failure.ts";
import { Icon } from "../look/icon.tsx";
import { exitWords } from "./exit-words.ts";

interface CommandStateProps {
  readonly item: ToolCallItem;
  readonly command: string;
  readonly turnId: string;
  /** Sequence number in the log at which the call begins. */
  readonly seq: bigint;
  /** undefined: the output is already shown, or there is none. */
  readonly onShowOutput: (() => void) | undefined;
}

/** Below a command: how it ended and how long it took; while it runs, how to stop it and where to watch it. */
export function CommandState({ item, command, turnId, seq, onShowOutput }: CommandStateProps) {
  const { control } = useChat();
  const [problem, setProblem] = useState("");
  const attempt = async (work: () => Promise<unknown> | undefined) => {
    setProblem("");
    try {
      await work();
    } catch (error) {
      setProblem(failureOf(error).message);
    }
  };
  const { status, startedAt, endedAt, callId, name } = item;
  const { watchCall } = control.host;
  const store = control.stores.value.background;
  const lasting = inBackground(item) ? store?.state.value.running.find((run) => run.command === command) : undefined;
  const exit = exitWords(item);
  const took = startedAt === undefined || endedAt === undefined ? undefined : endedAt.getTime() - startedAt.getTime();
  return (
    <div class="command-state">
      {status === "running" && (
        <>
          <StopButton
            label={`Stop ${name}`}
            onStop={() =>
              attempt(() =>
                control.followed.value?.session.stopToolCall({ turnId, callId }, { signal: control.signal }),
              )
            }
          />
          {watchCall !== undefined && name === "Bash" && (
            <button
              type="button"
              class="button button-quiet"
              onClick={() => void attempt(() => watchCall({ turnId, callId, afterSeq: `${seq - 1n}`, command }))}
            >
              <Icon name="terminal" />
              Watch in terminal
            </button>
          )}
          {startedAt !== undefined && <Elapsed since={startedAt} />}
        </>
      )}
      {lasting !== undefined && (
        <>
          <StopButton label={`Stop ${lasting.id}`} onStop={() => store?.stop(lasting.id)} />
          <span class="quiet">{lasting.id} runs in the background</span>
        </>
      )}
      {exit !== undefined && lasting === undefined && !inBackground(item) && (
        <span class={exit.tone}>{exit.words}</span>
      )}
      {/* If the exit code is 0 or unknown, it does not say why the call failed. */}
      {status === "failed" && (item.result?.exitCode ?? 0) === 0 && (
        <span class="tone-bad">{item.result?.error.split("\n", 1)[0]}</span>
      )}
      {took !== undefined && lasting === undefined && <span class="quiet">{durationWords(took)}</span>}
      {onShowOutput !== undefined && (
        <button type="button" class="link" onClick={onShowOutput}>
          Full output
        </button>
      )}
      {problem !== "" && (
        <span class="tone-bad" role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}

/** A button that stays disabled until the answer to its request. */
function StopButton({ label, onStop }: { readonly label: string; readonly onStop: () => Promise<void> | undefined }) {
  const [busy, setBusy] = useState(false);
  return (
    <button
      type="button"
      class="button button-quiet"
      aria-label={label}
      disabled={busy}
      onClick={async () => {
        setBusy(true);
        await onStop();
        setBusy(false);
      }}
    >
      <Icon name="stop" />
      {busy ? "Stopping…" : "Stop"}
    </button>
  );
}

function inBackground({ argumentsJson }: ToolCallItem): boolean {
  return /"run_in_background"\s*:\s*true/.test(argumentsJson);
}

/** How long something has run, updated each second; not read aloud. */
function Elapsed({ since }: { readonly since: Date }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  // Whole seconds, and never negative: `since` is a time of the server's clock.
  const seconds = Math.max(0, Math.floor((now - since.getTime()) / 1000));
  return (
    <span class="quiet" aria-hidden="true">
      {durationWords(seconds * 1000)}
    </span>
  );
}
