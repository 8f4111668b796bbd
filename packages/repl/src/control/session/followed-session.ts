import { AgentSession } from "@gennai/client/session/agent-session";
import { EventGapError } from "@gennai/client/session/subscription";
import type { Turn, TurnRequest } from "@gennai/client/session/turn";
import { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ReportedSettings, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { type Failure, failureOf } from "../../look/failure.ts";
import { FrameBatch } from "./frame-batch.ts";

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

/** Milliseconds to wait for the first event of a stream before a turn starts anyway. */
const attachMilliseconds = 1000;

/** A session with its view, kept up to date until it is disposed. */
export class FollowedSession implements Disposable {
  readonly session: AgentSession;
  readonly #options: FollowedSessionOptions;
  readonly #view = signal(new SessionView());
  /** A new object whenever the events had to be read from the beginning again. */
  readonly view: ReadonlySignal<SessionView> = this.#view;
  /** The view that events are applied to. It is shown only after the log was read once, not while that is being read. */
  #fold = this.#view.peek();
  /** Newest event of the log when the session was opened. */
  readonly #opensAt: bigint;
  readonly #opened = signal(1);
  /** The part of the log at opening that has been read: less than 1 while the view is still empty, 1 when it shows the log. */
  readonly opened: ReadonlySignal<number> = this.#opened;
  readonly #following = signal<Following>({ state: "connecting" });
  readonly following: ReadonlySignal<Following> = this.#following;
  readonly #settings;
  readonly #end = new AbortController();
  readonly #attached = Promise.withResolvers<void>();
  readonly #incoming = new FrameBatch<InvokeEvent>((events) => this.#apply(events));
  #again = new AbortController();
  #wake: (() => void) | undefined;

  constructor(options: FollowedSessionOptions) {
    this.#options = options;
    this.session = options.session;
    this.#opensAt = options.session.lastSeq;
    this.#beginAnew();
    this.#settings = signal(options.session.settings);
    void this.#follow();
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
    this.#again.abort();
    this.#wake?.();
  }

  /** Attaches first, so that the agent knows this client's abilities from the start. Rejects as `AgentSession` does. */
  async startTurn(request: TurnRequest, options: { readonly signal: AbortSignal }): Promise<Turn> {
    const silent = new Promise((resolve) => setTimeout(resolve, attachMilliseconds));
    await Promise.race([this.#attached.promise, silent]);
    return this.session.startTurn(request, options);
  }

  async changeSettings(choice: SettingsChoice, options: { readonly signal: AbortSignal }): Promise<void> {
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
    this.#wake?.();
    this.#incoming[Symbol.dispose]();
  }

  async #follow(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#again = new AbortController();
      try {
        await this.#read(AbortSignal.any([this.#end.signal, this.#again.signal]));
      } catch (error) {
        if (this.#end.signal.aborted) return;
        this.#incoming.flush();
        if (this.#again.signal.aborted) this.#following.value = { state: "connecting" };
        else if (error instanceof EventGapError) this.#beginAnew();
        else await this.#waitAfter(error);
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const events = this.session.follow({
      afterSeq: this.#fold.lastSeq,
      signal,
      onProblem: ({ error }) => this.#options.onProblem?.(failureOf(error)),
      onConnection: (change) => {
        if (change.state === "connected") {
          this.#attached.resolve();
          this.#following.value = change;
          return;
        }
        this.#show();
        const { attempt, delay, error } = change;
        const retryAt = Date.now() + delay;
        this.#following.value = { state: "reconnecting", attempt, retryAt, failure: failureOf(error) };
      },
    });
    for await (const event of events) this.#incoming.push(event);
  }

  async #waitAfter(error: unknown): Promise<void> {
    this.#show();
    this.#following.value = { state: "failed", failure: failureOf(error) };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    this.#following.value = { state: "connecting" };
  }

  #beginAnew(): void {
    this.#fold = new SessionView();
    if (this.#opensAt === 0n) this.#show();
    else this.#opened.value = 0;
  }

  #show(): void {
    this.#view.value = this.#fold;
    this.#opened.value = 1;
  }

  #apply(events: readonly InvokeEvent[]): void {
    const fold = this.#fold;
    batch(() => {
      for (const event of events) fold.apply(event);
      if (fold.lastSeq >= this.#opensAt) this.#show();
      else this.#opened.value = Number(fold.lastSeq) / Number(this.#opensAt);
    });
    this.#options.onEvents?.(events, this.#view.value);
  }
}
