import type { AttemptSet } from "@gennai/protocol/model/session/attempt";
import { useEffect, useMemo } from "preact/hooks";
import { ChatProvider, Folds } from "../chat/chat-context.ts";
import type { ReplControl } from "../control/repl-control.ts";
import { type AttemptsStore, keyOf } from "../control/session/attempts-store.ts";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { AttemptCard } from "./attempt-card.tsx";
import { setFacts, setWords } from "./attempt-words.ts";

/** Prompts that were tried several times, newest first, and their attempts side by side. */
export function AttemptsPanel({ control, store }: { readonly control: ReplControl; readonly store: AttemptsStore }) {
  useEffect(() => void store.load(), [store]);
  const folds = useMemo(() => new Folds(), [store]);
  const { sets, busy, problem } = store.state.value;
  return (
    <section class="attempts g-panel" aria-label="Attempts">
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => store.dismiss()} />}
      {busy.has("start") && (
        <p class="g-quiet" role="status">
          The workspace is being copied for each attempt…
        </p>
      )}
      {sets?.length === 0 && (
        <p class="empty">
          No prompt was tried several times here. Choose how often beside the mode, or write /attempts 3 and the prompt:
          each attempt works on a copy, a check decides, and nothing is taken before you say so.
        </p>
      )}
      {sets?.map((set) => (
        <ChatProvider key={set.id} value={{ control, folds, changes: store.contents(set.id), attemptsId: set.id }}>
          <AttemptSetView control={control} store={store} set={set} />
        </ChatProvider>
      ))}
    </section>
  );
}

interface AttemptSetProps {
  readonly control: ReplControl;
  readonly store: AttemptsStore;
  readonly set: AttemptSet;
}

function AttemptSetView({ control, store, set }: AttemptSetProps) {
  const { busy } = store.state.value;
  const take = async (number: number) => {
    const proposalId = await store.take(set.id, number);
    if (proposalId !== undefined) control.showReview(proposalId);
  };
  const facts = setFacts(set);
  return (
    <article class="attempt-set" aria-label={`Attempts at ${set.prompt.slice(0, 80)}`}>
      <header class="attempt-set-head">
        <VisibleText in="h3" text={set.prompt} />
        <p class="g-quiet">
          Decided by <VisibleText in="code" text={set.check} />
          {facts !== "" && <>. {facts}</>}
        </p>
        <div class="g-row">
          <p role="status">{setWords(set)}</p>
          {set.isRunning ? (
            <button
              type="button"
              class="button button-quiet"
              disabled={busy.has(keyOf(set.id, 0))}
              onClick={() => void store.stop(set.id, 0)}
            >
              Stop all
            </button>
          ) : (
            <button
              type="button"
              class="button button-quiet"
              disabled={busy.has(keyOf(set.id, 0))}
              onClick={() => void store.forget(set.id)}
            >
              Forget
            </button>
          )}
        </div>
      </header>
      <ol class="attempt-cards">
        {set.attempts.map((attempt) => (
          <AttemptCard
            key={attempt.number}
            attempt={attempt}
            id={`${set.id}:${attempt.number}`}
            watched={store.watched(attempt.sessionId)}
            isSuggested={set.suggested === attempt.number}
            disabled={busy.has(keyOf(set.id, attempt.number))}
            isTurnRunning={control.turns.progress.value !== "idle"}
            onStop={() => void store.stop(set.id, attempt.number)}
            onTake={() => void take(attempt.number)}
          />
        ))}
      </ol>
    </article>
  );
}
