import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { pause } from "../connection/back-off.ts";
import type { CallOptions } from "../connection/connection.ts";
import type { FollowOptions } from "./follow-options.ts";
import type { Turn, TurnRequest } from "./turn.ts";
import { endsTurn } from "./turn-state.ts";

export interface RunTurnOptions extends Omit<FollowOptions, "afterSeq" | "untilTurnId"> {
  /** Called when the server has the turn. */
  readonly onStart?: (turn: Turn) => void;
}

/** The session whose turn is run. */
export interface TurnSession {
  readonly lastSeq: bigint;
  startTurn(request: TurnRequest, options: CallOptions): Promise<Turn>;
  follow(options: FollowOptions): AsyncGenerator<InvokeEvent, void>;
}

/** Milliseconds to wait for the first word of a stream. */
const attachMilliseconds = 1000;

/** Attaches, starts a turn, and gives the turn's events. `AgentSession.runTurn` says more. */
export async function* runTurn(
  session: TurnSession,
  request: TurnRequest,
  options: RunTurnOptions,
): AsyncGenerator<InvokeEvent, void> {
  const { onStart, onConnection, signal, ...rest } = options;
  const attached = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const events = session.follow({
    ...rest,
    afterSeq: session.lastSeq,
    signal: AbortSignal.any([signal, leaving.signal]),
    onConnection: (change) => {
      if (change.state === "connected") attached.resolve();
      onConnection?.(change);
    },
  });
  const first = events.next();
  first.catch(() => undefined);
  try {
    // Servers say something at once; a silent one is not waited for.
    const silent = pause(attachMilliseconds, { signal: leaving.signal }).catch(() => undefined);
    await Promise.race([attached.promise, first, silent]);
    const { turn, early, next: coming } = await takenUntil(session.startTurn(request, { signal }), events, first);
    onStart?.(turn);
    for (const event of early) if (event.seq === 0n || event.seq > turn.afterSeq) yield event;
    for (let next = await coming; next.done !== true; next = await events.next()) {
      const event = next.value;
      if (event.seq !== 0n && event.seq <= turn.afterSeq) continue;
      yield event;
      if (endsTurn(event, turn.turnId)) return;
    }
  } finally {
    leaving.abort();
    await events.return();
  }
}

/** Handles events while a turn starts: the server may send requests before it begins, which must be answered. */
async function takenUntil(
  starting: Promise<Turn>,
  events: AsyncIterator<InvokeEvent, void>,
  first: Promise<IteratorResult<InvokeEvent, void>>,
): Promise<{
  readonly turn: Turn;
  readonly early: readonly InvokeEvent[];
  readonly next: Promise<IteratorResult<InvokeEvent, void>>;
}> {
  const early: InvokeEvent[] = [];
  const started = starting.then(() => undefined);
  started.catch(() => undefined);
  let next = first;
  for (;;) {
    const taken = await Promise.race([started, next]);
    if (taken === undefined || taken.done === true) return { turn: await starting, early, next };
    early.push(taken.value);
    next = events.next();
    next.catch(() => undefined);
  }
}
