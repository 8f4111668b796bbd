import { create } from "@bufbuild/protobuf";
import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { LoggedEvent } from "@gennai/agent/events/session-event";
import { endStates } from "@gennai/agent/events/session-event";
import { eventWithMaskedPaths } from "@gennai/machine/redaction/masked-paths";
import { type InvokeEvent, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { AttachedClient } from "@gennai/sessions/bridge/client-registry";
import type { Session } from "@gennai/sessions/session/session";
import { mergeDeltas } from "@gennai/sessions/session/session-writer";
import { storeTrouble } from "@gennai/store/database/store-trouble";
import { eventToWire, heartbeat } from "../wire/events/event-to-wire.ts";

/** Silence that makes a heartbeat; well under the 300 s after which fetch gives a stream up. Milliseconds. */
const heartbeatMs = 15_000;
/** Events in one message: what a reader has to take at once. */
const maxTogether = 200;

/**
 * A session's events after `afterSeq`: replay, then live. Ends with the end of `untilTurnId` if given, else when the
 * signal aborts. The client counts as attached while the stream is open.
 */
export async function* streamEvents(
  session: Session,
  options: {
    readonly afterSeq: number;
    readonly client: AttachedClient;
    readonly untilTurnId?: string;
    /** Sends a heartbeat at once, so that headers leave even when there is nothing to replay. */
    readonly greet: boolean;
    /** Events that are there together go out together. */
    readonly batches: boolean;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<InvokeEvent> {
  const { signal } = options;
  signal.throwIfAborted();
  const attached = session.clients.attach(options.client);
  const stop = new AbortController();
  // When a reader stalls, a `finally` may never run: clean-up hangs on the signal as well.
  const cleanUp = (): void => {
    attached[Symbol.dispose]();
    stop.abort(signal.reason);
  };
  signal.addEventListener("abort", cleanUp, { once: true });
  try {
    if (options.greet) yield heartbeat();
    if (options.untilTurnId !== undefined && endedBefore(session, options.untilTurnId, options.afterSeq)) return;
    const pages = session.services.log
      .tail(session.id, options.afterSeq, { signal: stop.signal })
      [Symbol.asyncIterator]();
    let next = followed(pages.next());
    using silence = new Silence();
    for (;;) {
      const page = await silence.orEnd(next);
      if (page === undefined) {
        await assertRecording(session);
        yield heartbeat();
        continue;
      }
      if (page.done === true) break;
      let together: InvokeEvent[] = [];
      for (const { firstSeq, logged } of merged(page.value)) {
        signal.throwIfAborted();
        const whole = logged.event.type === "client-request" ? await exact(session, logged) : logged;
        const shown = await eventWithMaskedPaths(whole.event, session.services.redactor);
        const event = eventToWire({ ...whole, event: shown }, firstSeq, isResolved(session, logged));
        const isEnd = endsTurn(logged, options.untilTurnId);
        if (options.batches) together.push(event);
        else yield event;
        if (together.length >= maxTogether || (isEnd && together.length > 0)) {
          yield batchOf(together);
          together = [];
        }
        if (isEnd) return;
      }
      if (together.length > 0) yield batchOf(together);
      next = followed(pages.next());
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", cleanUp);
    cleanUp();
  }
}

/** Anyone who waits for what cannot be recorded is told so, and comes back. Rejects with the log's error, while it lasts. */
async function assertRecording(session: Session): Promise<void> {
  if (storeTrouble(session.writer.failure) === undefined) return;
  await session.catchUp().catch((error: unknown) => {
    // Any other means that another server has the session: its events come.
    if (storeTrouble(error) !== undefined) throw error;
  });
  const { failure } = session.writer;
  if (session.runningTurnId !== undefined && failure !== undefined) throw failure;
}

/** Each message of a stream costs about as much as ten events do. */
function batchOf(events: readonly InvokeEvent[]): InvokeEvent {
  const [only, ...more] = events;
  if (only !== undefined && more.length === 0) return only;
  return create(InvokeEventSchema, { event: { case: "batch", value: { events: [...events] } } });
}

/** Merges consecutive deltas of one item into one event for a range of the log. */
function* merged(
  events: readonly LoggedEvent[],
): Iterable<{ readonly firstSeq: number; readonly logged: LoggedEvent }> {
  let open: { readonly firstSeq: number; readonly logged: LoggedEvent } | undefined;
  for (const logged of events) {
    const joined = open === undefined ? undefined : mergeDeltas(open.logged, logged);
    if (open !== undefined && joined !== undefined) {
      open = { firstSeq: open.firstSeq, logged: joined };
      continue;
    }
    if (open !== undefined) yield open;
    open = { firstSeq: logged.seq, logged };
  }
  if (open !== undefined) yield open;
}

/** A failure while the reader is slow is reported when the page is awaited, not as an unhandled rejection. */
function followed<Value>(next: Promise<Value>): Promise<Value> {
  next.catch(() => undefined);
  return next;
}

/** One timer for a whole stream: pages come in quick succession. */
class Silence implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #elapse: (value: undefined) => void = () => undefined;

  /** The value, or undefined when it has not come for as long as a heartbeat takes. One at a time. */
  orEnd<Value>(next: Promise<Value>): Promise<Value | undefined> {
    // A promise for each wait: one for all would hold on to every page it was raced with.
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#elapse = resolve;
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#elapse(undefined), heartbeatMs);
    else this.#timer.refresh();
    return Promise.race([next, promise]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** True for a turn whose end the reader has seen already: waiting for it would never end. */
function endedBefore(session: Session, turnId: string, afterSeq: number): boolean {
  const turn = session.state.turns.get(turnId);
  return turn?.endSeq !== undefined && turn.endSeq <= afterSeq;
}

/** The log keeps requests masked; as long as one is open here, anyone who may answer it gets it whole. */
async function exact(session: Session, logged: LoggedEvent): Promise<LoggedEvent> {
  if (logged.event.type !== "client-request") return logged;
  const { requestId } = logged.event.request;
  const request =
    session.requests.get(requestId) ?? (await session.services.ownership?.exactRequest(session.id, requestId));
  if (request === undefined) return logged;
  return { ...logged, event: { type: "client-request", request: withMaskedStatement(request, logged.event.request) } };
}

/** Adds the masked statement from the log to the exact one. */
function withMaskedStatement(request: ClientRequest, masked: ClientRequest): ClientRequest {
  if (request.kind !== "confirmation" || masked.kind !== "confirmation") return request;
  const { actionStatement: maskedStatement } = masked.question;
  return { ...request, question: { ...request.question, maskedStatement } };
}

function isResolved(session: Session, { event }: LoggedEvent): boolean {
  return event.type === "client-request" && session.state.resolvedRequests.has(event.request.requestId);
}

function endsTurn({ turnId, event }: LoggedEvent, untilTurnId: string | undefined): boolean {
  return turnId === untilTurnId && event.type === "status" && endStates.has(event.state);
}
