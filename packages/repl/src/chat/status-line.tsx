import { useEffect, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import type { TurnProgress } from "../control/turn-control.ts";
import { Icon } from "../icons/icon.tsx";
import type { RunningTurn } from "../model/session-facts.ts";
import { costWords, countWords, durationWords } from "./words.ts";

/** What is going on right now, and what the session has used. */
export function StatusLine({ control }: { readonly control: ReplControl }) {
  const facts = control.followed.value?.view.value.facts.value;
  const progress = control.turns.progress.value;
  const turn = facts?.turn;
  const usage = facts?.usage;
  const asked = control.confirmations.open.value.length > 0 || control.branch.question.value !== undefined;
  const fill =
    usage === undefined || usage.maxContextTokens === 0
      ? undefined
      : Math.round((usage.contextTokens / usage.maxContextTokens) * 100);
  return (
    <div class="status-line">
      {progress !== "idle" && (
        <span class="status-now">
          <Icon name={asked ? "question" : "loading"} spin={!asked} />
          {asked ? "Waits for your answer" : progressWords(progress, turn)}
          {turn?.since !== undefined && <Clock since={turn.since} />}
        </span>
      )}
      <span class="space" />
      {facts?.intent !== undefined && (
        <span class="status-fact" title={facts.intent.name}>
          {facts.intent.id}
        </span>
      )}
      {usage !== undefined && usage.inputTokens + usage.outputTokens > 0 && (
        <span
          class="status-fact"
          title={`${usage.inputTokens} tokens in, ${usage.outputTokens} out, over the whole session. ${usage.modelId}`}
        >
          {countWords(usage.inputTokens + usage.outputTokens)} tokens
          {usage.cost !== undefined && ` · ${costWords(usage.cost, usage.currency, usage.estimated)}`}
          {fill !== undefined && ` · context ${fill} %`}
        </span>
      )}
    </div>
  );
}

function progressWords(progress: TurnProgress, turn: RunningTurn | undefined): string {
  if (progress === "stopping") return "Stopping…";
  switch (turn?.phase) {
    case undefined:
    case "started":
      return "Starting…";
    case "thinking":
      return turn.iteration > 1 ? `Thinking, step ${turn.iteration}` : "Thinking";
    case "calling":
      return "Chooses a tool";
    case "running":
      return turn.toolName === "" ? "Works" : `Runs ${turn.toolName}`;
    case "waiting-for-client":
      return "Waits for somebody who can answer";
    case "waiting-for-tree":
      return "Waits for another session that writes here";
  }
}

function Clock({ since }: { readonly since: Date }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const passed = Math.max(0, Math.floor((now - since.getTime()) / 1000) * 1000);
  return passed < 1000 ? null : <span class="quiet">{durationWords(passed)}</span>;
}
