import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "../icons/icon.tsx";
import type { ToolCallItem, ToolCallStatus } from "../model/view-item.ts";
import { useChat } from "./chat-context.ts";
import { FullOutput } from "./full-output.tsx";
import { failureWords, toolArguments, toolIcon, toolPath, toolSubject } from "./tool-words.ts";
import { durationWords } from "./words.ts";

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

/** A tool call on one line, and all about it when it is folded out. */
export function ToolCallCard({ item, id }: { readonly item: ToolCallItem; readonly id: string }) {
  const { folds } = useChat();
  const open = folds.of(id, false);
  const status = statusWords[item.status];
  const { decision, result } = item;
  const subject = toolSubject(item);
  const exit = exitWords(item);
  return (
    <section class={`tool tool-${item.status}`}>
      <button
        type="button"
        class="tool-head"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <span class={open.value ? "fold fold-open" : "fold"}>
          <Icon name="chevron" />
        </span>
        <Icon name={toolIcon(item.name)} />
        <span class="tool-name">{item.name}</span>
        <span class="tool-subject" title={subject}>
          {subject}
        </span>
        {exit !== undefined && <span class={exit.tone}>{exit.words}</span>}
        {result?.verification === "failed" && <span class="badge badge-bad">verification failed</span>}
        {decision !== undefined && (
          <span class={`badge badge-${decision.verdict}`} title={decision.reason}>
            {verdictWords[decision.verdict]}
          </span>
        )}
        <span class={`tool-status tone-${status.tone}`} title={status.words}>
          <Icon name={status.icon} spin={status.icon === "loading"} />
          <span class="spoken">{status.words}</span>
        </span>
      </button>
      {!open.value && item.status === "running" && item.liveOutput !== "" && <LiveOutput item={item} brief />}
      {!open.value && item.status === "refused" && <p class="tool-why">{refusal(item)}</p>}
      {open.value && <ToolDetails item={item} />}
    </section>
  );
}

function ToolDetails({ item }: { readonly item: ToolCallItem }) {
  const { control } = useChat();
  const { decision, result, startedAt, endedAt } = item;
  const path = toolPath(item);
  const openFile = control.home.openFile;
  const took = startedAt === undefined || endedAt === undefined ? undefined : endedAt.getTime() - startedAt.getTime();
  const exit = exitWords(item);
  return (
    <div class="tool-body">
      <ToolArguments item={item} />
      {path !== undefined && openFile !== undefined && (
        <button type="button" class="link" onClick={() => void openFile(path)}>
          Open {path}
        </button>
      )}
      <dl class="facts">
        {decision !== undefined && (
          <div>
            <dt>Gate</dt>
            <dd>
              {verdictWords[decision.verdict]}
              {decision.risk !== undefined && `, ${decision.risk} risk`}
              {decision.rule !== "" && (
                <>
                  , rule <code>{decision.rule}</code>
                </>
              )}
              {decision.reason !== "" && <span class="facts-more">{decision.reason}</span>}
            </dd>
          </div>
        )}
        <div>
          <dt>Outcome</dt>
          <dd>
            {statusWords[item.status].words}
            {exit !== undefined && `, ${exit.words}`}
            {result !== undefined && result.failureClass !== "" && `, ${failureWords(result.failureClass)}`}
            {took !== undefined && `, ${durationWords(took)}`}
          </dd>
        </div>
        {result?.verification !== undefined && (
          <div>
            <dt>Checked</dt>
            <dd>{verificationWords[result.verification]}</dd>
          </div>
        )}
      </dl>
      {result === undefined ? (
        <LiveOutput item={item} />
      ) : (
        <>
          {result.error !== "" && <p class="tool-error">{result.error}</p>}
          {result.output !== "" && result.output !== result.error && <pre class="output">{result.output}</pre>}
          {result.outputBlob !== undefined && <FullOutput blob={result.outputBlob} />}
          {result.truncated && <p class="quiet">The output was cut; this is not all of it.</p>}
        </>
      )}
    </div>
  );
}

const verificationWords = {
  verified: "verified: the server looked again and found it so",
  unverified: "not verified",
  failed: "verification failed: what is there is not what was to be",
};

function ToolArguments({ item }: { readonly item: ToolCallItem }) {
  const list = item.status === "writing" ? undefined : toolArguments(item.argumentsJson);
  if (list === undefined) return <pre class="output">{item.argumentsJson}</pre>;
  if (list.length === 0) return <p class="quiet">No arguments.</p>;
  return (
    <dl class="facts">
      {list.map(({ name, value, large }) => (
        <div key={name} class={large ? "facts-large" : ""}>
          <dt>{name}</dt>
          <dd>{large ? <pre class="output">{value}</pre> : <code>{value}</code>}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What a running command has written, at its end unless the reader scrolled up. */
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

/** An exit code that nobody knows is no success. */
function exitWords({ name, result }: ToolCallItem): { readonly words: string; readonly tone: string } | undefined {
  if (result === undefined) return undefined;
  if (result.exitCode !== undefined) {
    return { words: `exit ${result.exitCode}`, tone: result.exitCode === 0 ? "badge" : "badge badge-bad" };
  }
  const ranCommand = toolIcon(name) === "terminal" && result.error === "";
  return ranCommand ? { words: "exit unknown", tone: "badge badge-ask" } : undefined;
}

function refusal({ decision, result }: ToolCallItem): string {
  if (decision !== undefined && decision.verdict === "deny" && decision.reason !== "") {
    return decision.rule === "" ? decision.reason : `${decision.reason} (rule ${decision.rule})`;
  }
  return result?.error.split("\n", 1)[0] ?? "";
}
