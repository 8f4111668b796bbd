import { contextWords, costWords, type UsageMeter } from "@gennai/client/session/usage-meter";
import { turnWords } from "@gennai/client/view/turn-words";
import { useEffect, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../look/icon.tsx";
import { countWords, durationWords } from "./words.ts";

/** What happens at the moment, and what the session has used. */
export function StatusLine({ control }: { readonly control: ReplControl }) {
  const facts = control.followed.value?.view.value.facts.value;
  const progress = control.turns.progress.value;
  const following = control.followed.value?.following.value.state;
  // Nobody knows what a server does that is not heard.
  const isLost = following === "reconnecting" || following === "failed";
  const turn = isLost ? undefined : facts?.turn;
  const usage = facts?.usage;
  const asked = control.confirmations.open.value.length > 0 || control.userQuestions.open.value.length > 0;
  return (
    <div class="status-line">
      {progress !== "idle" && (
        <span class="status-now">
          <Icon name={asked ? "question" : "loading"} spin={!asked && !isLost} />
          {isLost
            ? "No connection"
            : asked
              ? "Waits for your answer"
              : progress === "stopping"
                ? "Stopping…"
                : turnWords(turn)}
          {turn?.until !== undefined && <Countdown until={turn.until} />}
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
        <span class="status-fact" title={usageDetails(usage)}>
          {[contextWords(usage), costWords(usage)].filter((words) => words !== "").join(" · ") ||
            `${countWords(usage.inputTokens + usage.outputTokens)} tokens`}
        </span>
      )}
    </div>
  );
}

function usageDetails(usage: UsageMeter): string {
  const { inputTokens, outputTokens, contextTokens, maxContextTokens, cost, modelId } = usage;
  return [
    `${inputTokens} tokens in, ${outputTokens} out, over the whole session${usage.estimated ? ", partly guessed" : ""}.`,
    ...(maxContextTokens === 0 ? [] : [`The context holds ${contextTokens} of ${maxContextTokens}.`]),
    ...(cost === undefined ? [] : ["The cost is an estimate by list prices."]),
    modelId,
  ].join(" ");
}

function Clock({ since }: { readonly since: Date }) {
  const passed = Math.max(0, Math.floor((useNow() - since.getTime()) / 1000) * 1000);
  return passed < 1000 ? null : <span class="quiet">{durationWords(passed)}</span>;
}

/** Time until the provider is asked again; Stop ends this wait like everything else. */
function Countdown({ until }: { readonly until: Date }) {
  const left = Math.ceil((until.getTime() - useNow()) / 1000) * 1000;
  return left <= 0 ? null : <span class="quiet">asks again in {durationWords(left)}</span>;
}

/** Milliseconds since the epoch, updated each second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
