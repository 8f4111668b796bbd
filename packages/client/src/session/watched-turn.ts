import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { AgentSession } from "./agent-session.ts";
import { subscribe } from "./subscription.ts";
import type { TurnRequest } from "./turn.ts";
import { endsTurn, turnOutcome } from "./turn-state.ts";

const callTimeoutMs = 30_000;

export interface WatchTurnOptions {
  /** Name of the watcher, e.g. `plan`: a client of its own, because the session's own stream answers the server's requests. */
  readonly as: string;
  readonly signal: AbortSignal;
  /** What aborting does to the turn. */
  readonly onAbort: "cancel" | "leave";
}

/** Runs a turn and yields its events; the last one ends the turn. Rejects as `AgentSession.startTurn` and `subscribe` do. */
export async function* watchedTurn(
  session: Pick<AgentSession, "client" | "sessionId" | "identity" | "startTurn" | "cancelTurn">,
  request: TurnRequest,
  { as, signal, onAbort }: WatchTurnOptions,
): AsyncGenerator<InvokeEvent, void> {
  const { client, sessionId } = session;
  const { clientId, name, version } = session.identity;
  const { turnId, afterSeq } = await session.startTurn(request, { signal });
  const follow = new AbortController();
  const abort = () => {
    if (onAbort === "leave") return follow.abort(signal.reason);
    // The turn may have ended meanwhile: then there is nothing to cancel.
    session.cancelTurn(turnId, "cancelled", { signal: AbortSignal.timeout(callTimeoutMs) }).catch(() => undefined);
  };
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    const identity = { clientId: `${clientId}-${as}`, name, version };
    const options = { sessionId, identity, afterSeq, untilTurnId: turnId, signal: follow.signal };
    for await (const event of subscribe(client, options)) {
      if (event.turnId !== turnId) continue;
      yield event;
      if (endsTurn(event, turnId)) return;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    follow.abort();
  }
}

/** The final answer of such a turn; undefined if it was ended. Rejects with the turn's error if it failed. */
export async function turnAnswer(...watched: Parameters<typeof watchedTurn>): Promise<string | undefined> {
  let answer: string | undefined;
  let failure = "";
  for await (const event of watchedTurn(...watched)) {
    if (event.event.case === "error") failure = event.event.value;
    if (event.event.case === "final") answer = event.event.value.text;
    const outcome = turnOutcome(event);
    if (outcome === "completed") return answer;
    if (failure !== "" || outcome === "error") throw new Error(failure || "The turn failed.");
  }
  return undefined;
}
