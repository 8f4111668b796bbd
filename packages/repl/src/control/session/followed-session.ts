import { AgentSession } from "@gennai/client/session/agent-session";
import { EventGapError } from "@gennai/client/session/subscription";
import type { Turn, TurnRequest } from "@gennai/client/session/turn";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ReportedSettings, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { type Failure, failureOf } from "../../failure/failure.ts";
import { SessionView } from "../../model/session-view.ts";
import { FrameBatch } from "./frame-batch.ts";

/** How the events of a session come in. */
export type Following =
  | { readonly state: "connecting" }
  | { readonly state: "connected" }
  /** The connection is retried automatically; `retryAt` in milliseconds since the epoch. */
  | { readonly state: "reconnecting"; readonly attempt: number; readonly retryAt: number; readonly failure: Failure }
  /** The server refused: only a person can go on. */
  | { readonly state: "failed"; readonly failure: Failure };

export interface FollowedSessionOptions {
  readonly session: AgentSession;
  /** Called with events that were just applied, in order, and what is shown now. */
  readonly onEvents?: (events: readonly InvokeEvent[], view: SessionView) => void;
  /** An answer that the server did not take. */
  readonly onProblem?: (failure: Failure) => void;
}

/** Milliseconds to wait for the first word of a stream before a turn starts all the same. */
const attachMilliseconds = 1000;

/** A session with its view, kept up to date until it is disposed. */
export class FollowedSession implements Disposable {
  readonly session: AgentSession;
  readonly #options: FollowedSessionOptions;
  readonly #view = signal(new SessionView());
  /** What the events make. It is shown once the beginning has been read: nobody wants to see a long log run by. */
  #fold = this.#view.peek();
  /** How far the log went when the session was opened. */
  readonly #opensAt: bigint;
  readonly #opened = signal(1);
  readonly #following = signal<Following>({ state: "connecting" });
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

  /** A new object if the events had to be read from the beginning again. */
  get view(): ReadonlySignal<SessionView> {
    return this.#view;
  }

  /** How much of the log at opening has been read: 1 when the view shows it, less while it is empty. */
  get opened(): ReadonlySignal<number> {
    return this.#opened;
  }

  get following(): ReadonlySignal<Following> {
    return this.#following;
  }

  get settings(): ReadonlySignal<ReportedSettings> {
    return this.#settings;
  }

  /** Connects again now, where it waits or has given up. */
  retry(): void {
    if (this.#following.value.state !== "connected") this.reconnect();
  }

  /** Reads on over another connection, where this one gives less than it should. */
  reconnect(): void {
    this.#again.abort();
    this.#wake?.();
  }

  /** Attaches first, so that the agent finds this client's abilities from the start. Rejects as `AgentSession` does. */
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

  /** Leaves the session; nothing is cancelled at the server. */
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
