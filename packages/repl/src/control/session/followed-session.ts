import { FollowedSession as Followed, type WayToServer } from "@gennai/client/agent/followed-session";
import type { CallOptions } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import type { Turn, TurnRequest } from "@gennai/client/session/turn";
import { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ReportedSettings, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { type Failure, failureOf } from "../../look/failure.ts";

/** State of the stream of a session's events. */
export type Following =
  | { readonly state: "connecting" }
  | { readonly state: "connected" }
  /** The connection is retried automatically; `retryAt` is in milliseconds since the epoch. */
  | { readonly state: "reconnecting"; readonly attempt: number; readonly retryAt: number; readonly failure: Failure }
  /** The server refused: only a person can continue. */
  | { readonly state: "failed"; readonly failure: Failure };

export interface FollowedSessionOptions {
  readonly session: AgentSession;
  /** Called with events that were just applied, in order, and with the view after them. */
  readonly onEvents?: (events: readonly InvokeEvent[], view: SessionView) => void;
  /** Called if the server did not accept an answer. */
  readonly onProblem?: (failure: Failure) => void;
}

/** A followed session as it is drawn: a frame at a time, and only after its log was read once. */
export class FollowedSession implements Disposable {
  readonly session: AgentSession;
  readonly #view = signal(new SessionView());
  /** A new object whenever the events had to be read from the beginning again. */
  readonly view: ReadonlySignal<SessionView> = this.#view;
  /** Newest event of the log when the session was opened. */
  readonly #opensAt: bigint;
  readonly #opened = signal(1);
  /** The part of the log at opening that has been read: less than 1 while the view is still empty, 1 when it shows the log. */
  readonly opened: ReadonlySignal<number> = this.#opened;
  readonly #following = signal<Following>({ state: "connecting" });
  readonly following: ReadonlySignal<Following> = this.#following;
  readonly #settings;
  readonly #end = new AbortController();
  readonly #followed: Followed;
  #incoming: Disposable | undefined;

  constructor({ session, onEvents, onProblem }: FollowedSessionOptions) {
    this.session = session;
    this.#opensAt = session.lastSeq;
    this.#settings = signal(session.settings);
    this.#followed = new Followed(session, {
      onEvent: () => undefined,
      onWay: (way) => this.#became(way),
      onAnew: () => this.#beginAnew(),
      onProblem: ({ error }) => onProblem?.(failureOf(error)),
      gather: (take) => {
        const incoming = new FrameBatch<InvokeEvent>((events) => {
          batch(() => {
            for (const event of events) take(event);
            this.#showWhole();
          });
          onEvents?.(events, this.#view.value);
        });
        this.#incoming = incoming;
        return incoming;
      },
    });
    this.#beginAnew();
  }

  get settings(): ReadonlySignal<ReportedSettings> {
    return this.#settings;
  }

  /** Connects again at once, if it waits or has given up. */
  retry(): void {
    if (this.#following.value.state !== "connected") this.reconnect();
  }

  /** Continues over a new connection, if this one delivers less than it should. */
  reconnect(): void {
    this.#following.value = { state: "connecting" };
    this.#followed.reconnect();
  }

  startTurn(request: TurnRequest, options: CallOptions): Promise<Turn> {
    return this.#followed.startTurn(request, options);
  }

  async changeSettings(choice: SettingsChoice, options: CallOptions): Promise<void> {
    this.#settings.value = await this.session.changeSettings(choice, options);
  }

  /** Loads the session's settings after another client changed them. */
  async refreshSettings(): Promise<void> {
    const { client, identity, sessionId } = this.session;
    const { signal } = this.#end;
    const fresh = await AgentSession.resume(client, identity, sessionId, { signal }).catch(() => undefined);
    if (fresh !== undefined) this.#settings.value = fresh.settings;
  }

  /** Leaves the session; nothing is cancelled on the server. */
  [Symbol.dispose](): void {
    this.#end.abort();
    void this.#followed[Symbol.asyncDispose]();
    this.#incoming?.[Symbol.dispose]();
  }

  #became(way: WayToServer): void {
    if (way.state === "connected") {
      this.#following.value = way;
      return;
    }
    this.#show();
    const failure = failureOf(way.error);
    if (way.state === "gone") this.#following.value = { state: "failed", failure };
    else {
      const { state, attempt, delay } = way;
      this.#following.value = { state, attempt, retryAt: Date.now() + delay, failure };
    }
  }

  #beginAnew(): void {
    if (this.#opensAt === 0n) this.#show();
    else this.#opened.value = 0;
  }

  #showWhole(): void {
    const { lastSeq } = this.#followed.view;
    if (lastSeq >= this.#opensAt) this.#show();
    else this.#opened.value = Number(lastSeq) / Number(this.#opensAt);
  }

  #show(): void {
    this.#view.value = this.#followed.view;
    this.#opened.value = 1;
  }
}

/** Milliseconds that a batch waits if no frame is drawn, as in a hidden window. */
const hiddenDelay = 100;

/**
 * Gathers values and passes them on together, once a frame, so that a replay of thousands of events is drawn once. `flush` passes
 * them on at once.
 */
class FrameBatch<Value> implements Disposable {
  readonly #take: (values: readonly Value[]) => void;
  #values: Value[] = [];
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(take: (values: readonly Value[]) => void) {
    this.#take = take;
  }

  push(value: Value): void {
    this.#values.push(value);
    if (this.#timer !== undefined) return;
    this.#frame = requestAnimationFrame(() => this.flush());
    this.#timer = setTimeout(() => this.flush(), hiddenDelay);
  }

  flush(): void {
    this[Symbol.dispose]();
    const values = this.#values;
    this.#values = [];
    if (values.length > 0) this.#take(values);
  }

  /** After this, nothing is passed on. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#timer = undefined;
    this.#frame = undefined;
  }
}
