import { type Attempt, isLink } from "@gennai/protocol/model/session/attempt";
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { ChangedFiles } from "../changes/changed-files.tsx";
import { LineCounts } from "../changes/line-counts.tsx";
import { useChat } from "../chat/chat-context.ts";
import { FoldButton } from "../chat/fold-button.tsx";
import type { WatchedAttempt } from "../control/session/attempt-watch.ts";
import { Icon } from "../look/icon.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { attemptFacts, attemptFiles, attemptState } from "./attempt-words.ts";

export interface AttemptCardProps {
  readonly attempt: Attempt;
  /** Key under which it is remembered what is unfolded. */
  readonly id: string;
  /** What it does at the moment; undefined while it does not work. */
  readonly watched: ReadonlySignal<WatchedAttempt> | undefined;
  readonly isSuggested: boolean;
  /** True while an operation on it is under way. */
  readonly disabled: boolean;
  /** True while a turn of the session runs: then nothing can be taken. */
  readonly isTurnRunning: boolean;
  readonly onStop: () => void;
  readonly onTake: () => void;
}

/** One attempt: its progress, what it changed, what the check printed, and what the reader can do with it. */
export function AttemptCard(props: AttemptCardProps) {
  const { attempt, id, watched, isSuggested, disabled, isTurnRunning, onStop, onTake } = props;
  const { number, phase, changes, addedLines, removedLines, text, checkOutput } = attempt;
  const state = attemptState(attempt);
  const facts = attemptFacts(attempt);
  const files = attemptFiles(attempt);
  const links = changes.filter(isLink);
  const hasEnded = phase === "ended";
  return (
    <li class={isSuggested ? "attempt attempt-suggested" : "attempt"} aria-label={`Attempt ${number}: ${state.word}`}>
      <div class="attempt-head">
        <h4>Attempt {number}</h4>
        <span class={`attempt-state attempt-${state.tone}`}>
          {state.tone === "busy" && <Icon name="loading" spin />}
          {state.word}
        </span>
        {isSuggested && <span class="attempt-mark">Suggested</span>}
      </div>
      {watched !== undefined && <AtWork watched={watched} />}
      {facts !== "" && (
        <p class="attempt-facts">
          {facts} {changes.length > 0 && <LineCounts added={addedLines} removed={removedLines} />}
        </p>
      )}
      {files.length > 0 && <ChangedFiles files={files} id={id} open={false} />}
      {links.length > 0 && (
        <p class="g-quiet">
          Links, which are not proposed: <VisibleText text={links.map(({ path }) => path).join(", ")} />
        </p>
      )}
      {hasEnded && text !== "" && (
        <Folded id={`words:${id}`} label="What it said" open={attempt.outcome !== "completed"}>
          <VisibleText in="p" class="attempt-words" text={text} />
        </Folded>
      )}
      {checkOutput !== "" && (
        <Folded id={`check:${id}`} label="What the check printed" open={false}>
          <pre class="g-code attempt-output" tabIndex={0} aria-label={`What the check printed for attempt ${number}`}>
            <VisibleText text={checkOutput} />
          </pre>
        </Folded>
      )}
      <div class="g-row attempt-acts">
        {!hasEnded && (
          <button
            type="button"
            class="button button-quiet"
            disabled={disabled}
            aria-label={`Stop attempt ${number}`}
            onClick={onStop}
          >
            Stop
          </button>
        )}
        {hasEnded && files.length > 0 && (
          <button
            type="button"
            class={isSuggested ? "button" : "button button-quiet"}
            disabled={disabled || isTurnRunning}
            title={
              isTurnRunning ? "A turn of the session runs" : "It becomes the session's proposal; nothing is written yet"
            }
            aria-label={`Take attempt ${number}`}
            onClick={onTake}
          >
            Take
          </button>
        )}
      </div>
    </li>
  );
}

function AtWork({ watched }: { readonly watched: ReadonlySignal<WatchedAttempt> }) {
  const { call, words, asks } = watched.value;
  return (
    <>
      {asks && <p class="attempt-asks">It asks you: the question stands below.</p>}
      {call !== "" && (
        <p class="attempt-call">
          <VisibleText in="code" text={call} />
        </p>
      )}
      {words !== "" && <VisibleText in="p" class="attempt-words g-quiet" text={words} />}
    </>
  );
}

interface FoldedProps {
  readonly id: string;
  readonly label: string;
  readonly open: boolean;
  readonly children: ComponentChildren;
}

function Folded({ id, label, open, children }: FoldedProps) {
  const isOpen = useChat().folds.of(id, open);
  return (
    <div class="attempt-fold">
      <FoldButton class="changed-file-fold" open={isOpen}>
        {label}
      </FoldButton>
      {isOpen.value && children}
    </div>
  );
}
