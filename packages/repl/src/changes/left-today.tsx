import type { CallTrace } from "@gennai/protocol/model/governance/line-trace";
import { plural } from "@gennai/protocol/plural";
import { useMemo } from "preact/hooks";
import { useChat } from "../chat/chat-context.ts";
import { PlaceLink } from "./place-link.tsx";

/** Which of the lines that a call wrote still exist, and where: asked when the reader wants to know. */
export function LeftToday({ turnId, callId }: { readonly turnId: string; readonly callId: string }) {
  const traces = useChat().control.stores.value.traces;
  const state = useMemo(() => traces?.of(turnId, callId), [traces, turnId, callId])?.value;
  if (traces === undefined || state === undefined) return null;
  const ask = () => void traces.ask(turnId, callId);
  if (state.type === "traced") {
    return (
      <div class="left-today" role="status">
        <Found trace={state.trace} />
        <button type="button" class="link" onClick={ask}>
          Look again
        </button>
      </div>
    );
  }
  return (
    <div class="left-today">
      <button type="button" class="link" disabled={state.type === "asking"} onClick={ask}>
        {state.type === "asking" ? "Looking for its lines…" : "Which of these lines are still in the file?"}
      </button>
      {state.type === "failed" && (
        <p class="tone-bad" role="alert">
          {state.problem.action}: {state.problem.message}
        </p>
      )}
    </div>
  );
}

/** Places of one file that are listed; a reader who wants more opens the file. */
const placesShown = 12;

function Found({ trace }: { readonly trace: CallTrace }) {
  const { trust, written, files } = trace;
  const left = files.reduce((sum, { spans }) => sum + spans.reduce((lines, span) => lines + span.lineCount, 0), 0);
  return (
    <>
      {trust.status !== "ok" && (
        <p class="tone-bad">
          The ledger is not as it was signed ({trust.status}): {trust.message}
        </p>
      )}
      <p>
        {files.length === 0
          ? "The ledger records no change of this call: nothing can be said of its lines."
          : left === 0
            ? "None of its lines is left."
            : `${plural(left, "line")} of ${written === 0 ? "an unknown number" : written} that it wrote ${left === 1 ? "is" : "are"} still there:`}
      </p>
      {files.length > 0 && (
        <ul>
          {files.map(({ path, readable, spans }) => (
            <li key={path}>
              {spans.length === 0 && <span class="file-path">{path}</span>}
              {spans.length === 0 && (readable ? ": none is left" : ": it is gone, or could not be looked into")}
              {spans.slice(0, placesShown).map(({ firstLine, lineCount }) => (
                <PlaceLink key={firstLine} path={path} line={firstLine} lines={lineCount} />
              ))}
              {spans.length > placesShown && ` and ${plural(spans.length - placesShown, "place")} more`}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
