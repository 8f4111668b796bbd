import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { CallOptions } from "../connection/connection.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { FollowOptions } from "../session/follow-options.ts";
import { type ConnectionChange, EventGapError } from "../session/subscription.ts";
import type { Turn, TurnRequest } from "../session/turn.ts";
import { SessionView } from "../view/session-view.ts";

/** What became of the way to the server; `gone`: it is tried again when somebody asks for it. */
export type WayToServer = ConnectionChange | { readonly state: "gone"; readonly error: unknown };

export interface FollowedOptions extends Pick<FollowOptions, "maxAttempts" | "onProblem"> {
  /** An event came, and the view has taken it. @param added what it adds to a text that is streamed */
  readonly onEvent: (event: InvokeEvent, added: string) => void;
  readonly onWay: (way: WayToServer) => void;
  /** Events were missing: all are read again, into a new view. */
  readonly onAnew: (error: EventGapError) => void;
  /** Gathers events, e.g. until a frame is drawn, and has them taken in their order; absent: each is taken as it comes. */
  readonly gather?: (take: (event: InvokeEvent) => void) => Gathering;
}

interface Gathering {
  push(event: InvokeEvent): void;
  /** Has those taken that were gathered. */
  flush(): void;
}

/** Milliseconds to wait for the first word of a stream before a turn starts anyway. */
const attachMilliseconds = 1000;

/**
 * A session that is followed from its beginning, over breaks of the connection, until it is left; its events are folded into a view, and
 * the identity's editor answers the requests among them.
 */
export class FollowedSession implements AsyncDisposable {
  readonly session: AgentSession;
  readonly #options: FollowedOptions;
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  readonly #incoming: Gathering;
  #view = new SessionView();
  #connection = new AbortController();
  #attached = Promise.withResolvers<void>();
  #wake: (() => void) | undefined;

  /** Begins at once; nothing is told before the next task. */
  constructor(session: AgentSession, options: FollowedOptions) {
    this.session = session;
    this.#options = options;
    const take = (event: InvokeEvent): void => options.onEvent(event, this.#view.apply(event));
    this.#incoming = options.gather?.(take) ?? { push: take, flush: () => undefined };
    this.#running = this.#run();
  }

  /** A new object after `onAnew`. */
  get view(): SessionView {
    return this.#view;
  }

  /** True from `gone` on, until it is tried again. */
  get isGone(): boolean {
    return this.#wake !== undefined;
  }

  /** Resolves when events come, or the server is gone. */
  get attached(): Promise<void> {
    return this.#attached.promise;
  }

  /** Connects anew, at once. */
  reconnect(): void {
    this.#connection.abort();
    if (this.#wake === undefined) return;
    this.#attached = Promise.withResolvers();
    this.#wake();
    this.#wake = undefined;
  }

  /** Attaches first, so that the agent knows this client's abilities from the start. Rejects as `AgentSession` does. */
  async startTurn(request: TurnRequest, options: CallOptions): Promise<Turn> {
    const silent = new Promise((resolve) => setTimeout(resolve, attachMilliseconds));
    await Promise.race([this.attached, silent]);
    return this.session.startTurn(request, options);
  }

  /** Cancels nothing on the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#connection = new AbortController();
      try {
        await this.#read(AbortSignal.any([this.#end.signal, this.#connection.signal]));
      } catch (error) {
        if (this.#end.signal.aborted) return;
        this.#incoming.flush();
        if (this.#connection.signal.aborted) continue;
        if (error instanceof EventGapError) {
          this.#view = new SessionView();
          this.#options.onAnew(error);
        } else await this.#gone(error);
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { onEvent: _told, onWay, onAnew: _anew, gather: _gather, ...options } = this.#options;
    const events = this.session.follow({
      ...options,
      signal,
      afterSeq: this.#view.lastSeq,
      onConnection: (change) => {
        if (change.state === "connected") this.#attached.resolve();
        onWay(change);
      },
    });
    for await (const event of events) this.#incoming.push(event);
  }

  async #gone(error: unknown): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#wake = waiting.resolve;
    this.#attached.resolve();
    this.#options.onWay({ state: "gone", error });
    await waiting.promise;
  }
}
