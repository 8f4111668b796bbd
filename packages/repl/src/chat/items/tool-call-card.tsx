import { resultForPeople } from "@gennai/client/session/text/result-for-people";
import { callSubject } from "@gennai/client/view/call-subject";
import type { ToolCallItem, ToolCallStatus } from "@gennai/client/view/items/view-item";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CallChanges } from "../../changes/call-changes.tsx";
import { CommandState } from "../../command/command-state.tsx";
import { CommandText } from "../../command/command-text.tsx";
import { exitWords } from "../../command/exit-words.ts";
import { Fact } from "../../look/fact.tsx";
import { failureOf } from "../../look/failure.ts";
import { Icon, type IconName } from "../../look/icon.tsx";
import { useChat } from "../chat-context.ts";
import { FoldButton } from "../fold-button.tsx";
import { commandOf, failureWords, toolArguments, toolDescription, toolIcon, toolPath } from "../tool-words.ts";
import { durationWords, sizeWords } from "../words.ts";
import { BlobImage } from "./blob-image.tsx";

const statusWords: Record<ToolCallStatus, { readonly words: string; readonly icon: IconName; readonly tone: string }> =
  {
    writing: { words: "being written", icon: "loading", tone: "quiet" },
    waiting: { words: "waiting", icon: "loading", tone: "quiet" },
    running: { words: "running", icon: "loading", tone: "busy" },
    done: { words: "done", icon: "check", tone: "good" },
    failed: { words: "failed", icon: "error", tone: "bad" },
    refused: { words: "did not run", icon: "slash", tone: "bad" },
    ended: { words: "ended without a result", icon: "slash", tone: "quiet" },
  };

const verdictWords = { allow: "allowed", ask: "asked", deny: "denied" } as const;

interface ToolCallCardProps {
  readonly item: ToolCallItem;
  readonly id: string;
  readonly turnId: string;
  /** Sequence number in the log at which it begins. */
  readonly seq: bigint;
}

/** A tool call on one line, its command below it, and all details when it is unfolded. */
export function ToolCallCard({ item, id, turnId, seq }: ToolCallCardProps) {
  const { control, folds } = useChat();
  const open = folds.of(id, false);
  const sought = control.sought.value;
  const isSought = sought?.callId === item.callId && sought.turnId === turnId;
  const status = statusWords[item.status];
  const { decision, result } = item;
  const command = commandOf(item);
  const subject = command === undefined ? callSubject(item.argumentsJson) : toolDescription(item);
  const exit = command === undefined ? exitWords(item) : undefined;
  return (
    <section class={`tool tool-${item.status}${isSought ? " tool-sought" : ""}`}>
      <FoldButton class="tool-head" open={open}>
        <Icon name={toolIcon(item.name)} />
        <span class="tool-name">{item.name}</span>
        <span class="tool-subject" title={subject}>
          {subject}
        </span>
        {exit !== undefined && <span class={exit.tone}>{exit.words}</span>}
        {/* For a command, it would repeat what the exit code says. */}
        {command === undefined && result?.verification === "failed" && (
          <span class="badge badge-bad">verification failed</span>
        )}
        {decision !== undefined && (control.details.value || decision.verdict === "deny") && (
          <span class={`badge badge-${decision.verdict}`} title={decision.reason}>
            {verdictWords[decision.verdict]}
          </span>
        )}
        <span class={`tool-status tone-${status.tone}`} title={status.words}>
          <Icon name={status.icon} spin={status.icon === "loading"} />
          <span class="spoken">{status.words}</span>
        </span>
      </FoldButton>
      {command !== undefined && <CommandText command={command} id={id} />}
      {!open.value && item.status === "running" && item.liveOutput !== "" && <LiveOutput item={item} brief />}
      {!open.value && item.status === "refused" && <p class="tool-why">{refusal(item)}</p>}
      {command !== undefined && (
        <CommandState
          {...{ item, command, turnId, seq }}
          onShowOutput={
            open.value || item.status === "refused" || outputOf(item) === "" ? undefined : () => (open.value = true)
          }
        />
      )}
      {item.changes.length > 0 && (
        <CallChanges files={item.changes} named={toolPath(item) ?? ""} {...{ id, turnId, callId: item.callId }} />
      )}
      {open.value && <ToolDetails item={item} />}
    </section>
  );
}

function ToolDetails({ item }: { readonly item: ToolCallItem }) {
  const { control } = useChat();
  const { decision, result, startedAt, endedAt } = item;
  const path = toolPath(item);
  const openFile = control.host.openFile;
  const took = startedAt === undefined || endedAt === undefined ? undefined : endedAt.getTime() - startedAt.getTime();
  const exit = exitWords(item);
  return (
    <div class="tool-body">
      <ToolArguments item={item} />
      {path !== undefined && openFile !== undefined && (
        <button type="button" class="link" onClick={() => void openFile({ path })}>
          Open {path}
        </button>
      )}
      <dl class="facts">
        {decision !== undefined && (
          <Fact name="Gate">
            {verdictWords[decision.verdict]}
            {decision.risk !== undefined && `, ${decision.risk} risk`}
            {decision.rule !== "" && (
              <>
                , rule <code>{decision.rule}</code>
              </>
            )}
            {decision.reason !== "" && <span class="facts-more">{decision.reason}</span>}
          </Fact>
        )}
        <Fact name="Outcome">
          {statusWords[item.status].words}
          {exit !== undefined && `, ${exit.words}`}
          {result !== undefined && result.failureClass !== "" && `, ${failureWords(result.failureClass)}`}
          {took !== undefined && `, ${durationWords(took)}`}
        </Fact>
        {result?.verification !== undefined && <Fact name="Checked">{verificationWords[result.verification]}</Fact>}
      </dl>
      {result === undefined ? (
        <LiveOutput item={item} />
      ) : (
        <>
          <ResultTexts result={result} />
          {result.images.map((blob, index) => (
            <BlobImage key={blob.sha256} blob={blob} label={`Picture ${index + 1}, as the model was shown it`} />
          ))}
          {result.outputBlob !== undefined && <FullOutput blob={result.outputBlob} />}
          {result.truncated && <p class="quiet">The output was cut; this is not all of it.</p>}
        </>
      )}
    </div>
  );
}

function ResultTexts({ result }: { readonly result: NonNullable<ToolCallItem["result"]> }) {
  const { error, advice, output } = resultForPeople(result);
  return (
    <>
      {error !== "" && <p class="tool-error">{error}</p>}
      {advice !== "" && <p class="quiet">{advice}</p>}
      {output !== "" && output !== error && (
        <pre class="output" tabIndex={0}>
          {output}
        </pre>
      )}
    </>
  );
}

const verificationWords = {
  verified: "verified: the server looked again, and the result is as intended",
  unverified: "not verified",
  failed: "verification failed: the result is not as intended",
};

function outputOf({ result, liveOutput }: ToolCallItem): string {
  return result === undefined ? liveOutput : resultForPeople(result).output;
}

function ToolArguments({ item }: { readonly item: ToolCallItem }) {
  const list = item.status === "writing" ? undefined : toolArguments(item.argumentsJson);
  if (list === undefined)
    return (
      <pre class="output" tabIndex={0}>
        {item.argumentsJson}
      </pre>
    );
  // The command is already shown above them.
  const shown = commandOf(item) === undefined ? list : list.filter(({ name }) => name !== "command");
  if (shown.length === 0 && list.length > 0) return null;
  if (shown.length === 0) return <p class="quiet">No arguments.</p>;
  return (
    <dl class="facts">
      {shown.map(({ name, value, large }) => (
        <div key={name} class={large ? "facts-large" : ""}>
          <dt>{name}</dt>
          <dd>
            {large ? (
              <pre class="output" tabIndex={0}>
                {value}
              </pre>
            ) : (
              <code>{value}</code>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What a running command has written; scrolled to the end unless the reader scrolled up. */
function LiveOutput({ item, brief = false }: { readonly item: ToolCallItem; readonly brief?: boolean }) {
  const element = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (element.current !== null && follows.current) element.current.scrollTop = element.current.scrollHeight;
  }, [item.liveOutput]);
  if (item.liveOutput === "") return null;
  const text = brief ? item.liveOutput.trimEnd().split("\n").slice(-4).join("\n") : item.liveOutput;
  return (
    <>
      {!brief && item.liveOutputCut && <p class="quiet">Only the end is shown.</p>}
      <pre
        ref={element}
        class={brief ? "output output-brief" : "output"}
        tabIndex={0}
        aria-label="Output so far"
        onScroll={({ currentTarget }) => {
          const { scrollHeight, scrollTop, clientHeight } = currentTarget;
          follows.current = scrollHeight - scrollTop - clientHeight < 8;
        }}
      >
        {text}
      </pre>
    </>
  );
}

function refusal({ decision, result }: ToolCallItem): string {
  if (decision !== undefined && decision.verdict === "deny" && decision.reason !== "") {
    return decision.rule === "" ? decision.reason : `${decision.reason} (rule ${decision.rule})`;
  }
  return result?.error.split("\n", 1)[0] ?? "";
}

/** Most characters that are shown: a longer text makes the page slow. */
const shownCharacters = 400_000;

/** An output that is too large for its event; fetched when the reader asks, and shown in an editor where there is one. */
function FullOutput({ blob }: { readonly blob: BlobRef }) {
  const { control } = useChat();
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState("");
  const load = async () => {
    try {
      const bytes = await control.followed.value?.session.blob(blob.sha256, { signal: AbortSignal.timeout(30_000) });
      const whole = new TextDecoder().decode(bytes);
      if (control.host.openText === undefined) setText(whole);
      else await control.host.openText({ title: "output.txt", text: whole, kind: "text" });
      setProblem("");
    } catch (error) {
      setProblem(failureOf(error).message);
    }
  };
  if (text !== undefined) {
    return (
      <>
        <pre class="output output-full" tabIndex={0}>
          {text.slice(0, shownCharacters)}
        </pre>
        {text.length > shownCharacters && <p class="quiet">Only the beginning is shown.</p>}
      </>
    );
  }
  return (
    <p>
      <button type="button" class="link" onClick={() => void load()}>
        Show all ({sizeWords(blob.size)})
      </button>
      {problem !== "" && <span class="tone-bad"> {problem}</span>}
    </p>
  );
}
