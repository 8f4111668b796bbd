import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type BackOff, backOffDelay, defaultBackOff, pause } from "../connection/back-off.ts";
import { askedPause, callFailure, doubtfulAttempts, isUnauthenticated } from "../connection/call-failure.ts";
import { type ClientIdentity, clientInfoMessage } from "../connection/client-identity.ts";
import type { AgentClient } from "../connection/connection.ts";
import { endsTurn } from "./turn-state.ts";

export interface SubscribeOptions {
  readonly sessionId: string;
  /** The last seq the caller has; 0n replays everything. */
  readonly afterSeq: bigint;
  readonly identity: ClientIdentity;
  readonly signal: AbortSignal;
  /** Ends with the end of this turn; without it, the iteration ends only by abort or error. */
  readonly untilTurnId?: string;
  /** Failed connections in a row after which it gives up. Default: never, while the failures are passing ones. */
  readonly maxAttempts?: number;
  /** Milliseconds without any message, heartbeats included, after which the connection is taken for dead. */
  readonly silence?: number;
  readonly backOff?: BackOff;
  readonly onConnection?: (change: ConnectionChange) => void;
}

export type ConnectionChange =
  | { readonly state: "connected" }
  /** Lost; the next try is in `delay` milliseconds. */
  | { readonly state: "reconnecting"; readonly attempt: number; readonly delay: number; readonly error: unknown };

/** The server left out events without saying so. Nothing after the gap can be trusted: resume the session anew. */
export class EventGapError extends Error {
  readonly code = "event_gap";
  readonly expectedSeq: bigint;
  readonly receivedSeq: bigint;

  constructor(expectedSeq: bigint, receivedSeq: bigint) {
    super(
      `Events ${expectedSeq} to ${receivedSeq - 1n} are missing. Resume the session to load it from the beginning.`,
    );
    this.name = "EventGapError";
    this.expectedSeq = expectedSeq;
    this.receivedSeq = receivedSeq;
  }
}

/**
 * The events of a session, each once and in order, over any number of connections.
 *
 * - Heartbeats are dropped. `truncated` is passed on; the numbers continue after the gap it names.
 * - An event whose range begins before the last seen number completes an item whose deltas were seen: it is passed on,
 *   and `StreamedText` gives the new part.
 * - Throws `ConnectError` if the server refuses, `EventGapError` if events are missing, the signal's reason on abort.
 */
export async function* subscribe(client: AgentClient, options: SubscribeOptions): AsyncGenerator<InvokeEvent, void> {
  let lastSeq = options.afterSeq;
  let failures = 0;
  /** The server accepted our token before: if it is refused now, it has expired, and a new one may be available soon. */
  let wasConnected = false;
  for (;;) {
    options.signal.throwIfAborted();
    // Breaking out of `for await` does not cancel a call; aborting its signal does.
    const connection = new AbortController();
    const onAbort = () => connection.abort(options.signal.reason);
    options.signal.addEventListener("abort", onAbort, { once: true });
    const watch = new SilenceWatch(options.silence ?? 45_000, () => connection.abort(new SilenceError()));
    let failure: unknown;
    try {
      const stream = client.subscribe(
        {
          sessionId: options.sessionId,
          afterSeq: lastSeq,
          client: clientInfoMessage(options.identity),
          untilTurnId: options.untilTurnId ?? "",
          batches: true,
        },
        { signal: connection.signal },
      );
      let connected = false;
      const hadSeq = lastSeq;
      watch.start();
      for await (const message of stream) {
        // The reader may take long over an event: only the server's silence counts.
        watch.stop();
        // The first message alone is no success: a server that fails behind it each time would be asked without end.
        if (connected) failures = 0;
        if (!connected) options.onConnection?.({ state: "connected" });
        connected = true;
        wasConnected = true;
        for (const event of message.event.case === "batch" ? message.event.value.events : [message]) {
          const place = placeOf(event, lastSeq);
          lastSeq = place.lastSeq;
          if (!place.show) continue;
          yield event;
          if (options.untilTurnId !== undefined && endsTurn(event, options.untilTurnId)) return;
        }
        if (lastSeq > hadSeq) failures = 0;
        watch.start();
      }
      // A server that shuts down fails its streams; a plain end means that the turn is over.
      if (options.untilTurnId !== undefined) return;
      failure = new Error("The server ended the stream.");
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof EventGapError) throw error;
      failure = connection.signal.aborted ? connection.signal.reason : error;
    } finally {
      watch.end();
      options.signal.removeEventListener("abort", onAbort);
      connection.abort();
    }
    failures++;
    const most = options.maxAttempts ?? Number.POSITIVE_INFINITY;
    if (wasConnected && isUnauthenticated(failure)) {
      if (failures >= Math.min(most, doubtfulAttempts)) throw failure;
    } else giveUpOn(failure, failures, most);
    const delay = Math.max(askedPause(failure), backOffDelay(failures, options.backOff ?? defaultBackOff));
    options.onConnection?.({ state: "reconnecting", attempt: failures, delay, error: failure });
    await pause(delay, { signal: options.signal });
  }
}

function placeOf(event: InvokeEvent, lastSeq: bigint): { readonly lastSeq: bigint; readonly show: boolean } {
  if (event.event.case === "heartbeat") return { lastSeq, show: false };
  if (event.event.case === "truncated") {
    const through = event.event.value.throughSeq;
    return { lastSeq: through > lastSeq ? through : lastSeq, show: true };
  }
  if (event.seq === 0n) return { lastSeq, show: true };
  if (event.seq <= lastSeq) return { lastSeq, show: false };
  const first = event.firstSeq === 0n ? event.seq : event.firstSeq;
  if (first > lastSeq + 1n) throw new EventGapError(lastSeq + 1n, first);
  return { lastSeq: event.seq, show: true };
}

function giveUpOn(failure: unknown, failures: number, maxAttempts: number): void {
  if (failure instanceof SilenceError) {
    if (failures >= maxAttempts) throw failure;
    return;
  }
  const kind = callFailure(failure);
  const most = kind === "doubtful" ? Math.min(maxAttempts, doubtfulAttempts) : maxAttempts;
  if (kind === "final" || failures >= most) throw failure;
}

class SilenceError extends Error {
  override readonly name = "SilenceError";

  constructor() {
    super("The server has been silent for too long.");
  }
}

/** Thousands of events may arrive per second: starting the watch creates no timer. */
class SilenceWatch {
  readonly #milliseconds: number;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds since the epoch; undefined while nothing is expected. */
  #since: number | undefined;

  constructor(milliseconds: number, onSilence: () => void) {
    this.#milliseconds = milliseconds;
    this.#onSilence = onSilence;
  }

  start(): void {
    this.#since = Date.now();
    this.#timer ??= setTimeout(() => this.#look(), this.#milliseconds);
  }

  stop(): void {
    this.#since = undefined;
  }

  end(): void {
    this.stop();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#since === undefined) return;
    const left = this.#since + this.#milliseconds - Date.now();
    if (left <= 0) this.#onSilence();
    else this.#timer = setTimeout(() => this.#look(), left);
  }
}
