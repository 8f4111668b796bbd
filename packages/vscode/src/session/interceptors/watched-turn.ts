import type { AgentSession } from "@gennai/client/session/agent-session";
import { subscribe } from "@gennai/client/session/subscription";
import type { TurnRequest } from "@gennai/client/session/turn";
import { endsTurn, turnOutcome } from "@gennai/client/session/turn-state";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

const callTimeoutMs = 30_000;

export interface WatchTurnOptions {
  /** Name of the watcher, e.g. `plan`: a client of its own, because the window's own stream answers the server's requests. */
  readonly as: string;
  /** Aborting it cancels the turn. */
  readonly stop: AbortSignal;
}

/** Runs a turn and yields its events; the last one ends the turn. Rejects as `AgentSession.startTurn` and `subscribe` do. */
export async function* watchedTurn(
  session: AgentSession,
  request: TurnRequest,
  { as, stop }: WatchTurnOptions,
): AsyncGenerator<InvokeEvent, void> {
  const { client, sessionId } = session;
  const { clientId, name, version } = session.identity;
  const { turnId, afterSeq } = await session.startTurn(request, { signal: stop });
  const cancel = () => {
    const signal = AbortSignal.timeout(callTimeoutMs);
    // The turn may have ended meanwhile: then there is nothing to cancel.
    session.cancelTurn(turnId, "cancelled", { signal }).catch(() => undefined);
  };
  stop.addEventListener("abort", cancel, { once: true });
  if (stop.aborted) cancel();
  const follow = new AbortController();
  try {
    const identity = { clientId: `${clientId}-${as}`, name, version };
    const options = { sessionId, identity, afterSeq, untilTurnId: turnId, signal: follow.signal };
    for await (const event of subscribe(client, options)) {
      if (event.turnId !== turnId) continue;
      yield event;
      if (endsTurn(event, turnId)) return;
    }
  } finally {
    stop.removeEventListener("abort", cancel);
    follow.abort();
  }
}

/** The final answer of such a turn; undefined if it was ended. Rejects with the turn's error if it failed. */
export async function turnAnswer(
  session: AgentSession,
  request: TurnRequest,
  options: WatchTurnOptions,
): Promise<string | undefined> {
  let answer: string | undefined;
  for await (const event of watchedTurn(session, request, options)) {
    if (event.event.case === "error") throw new Error(event.event.value);
    if (event.event.case === "final") answer = event.event.value.text;
    const outcome = turnOutcome(event);
    if (outcome !== undefined) return outcome === "completed" ? answer : undefined;
  }
  return undefined;
}
