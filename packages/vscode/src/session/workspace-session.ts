import { Code, ConnectError } from "@connectrpc/connect";
import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { AgentSession } from "@gennai/client/session/agent-session";
import { EventGapError } from "@gennai/client/session/subscription";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { SessionView } from "@gennai/client/view/session-view";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import type { ServerConnection } from "../server/server-connection.ts";

export interface WorkspaceSessionOptions {
  readonly connect: () => Promise<ServerConnection>;
  /** Connects as well, but does not offer to start a server. */
  readonly find: () => Promise<ServerConnection>;
  /** Called for each new stream; the identity has an editor while this window owns the workspace. */
  readonly identity: () => ClientIdentity;
  readonly choice: () => SettingsChoice;
  /** The last session of this workspace. */
  readonly remembered: () => string | undefined;
  readonly remember: (sessionId: string) => Promise<void>;
  readonly onEvent: (event: InvokeEvent, session: AgentSession) => void;
  readonly onFacts: () => void;
  readonly onSession: (session: AgentSession) => void;
  readonly onStream: (change: { readonly type: "lost"; readonly reason: string } | { readonly type: "back" }) => void;
  /** Reports to the log what was not done. */
  readonly onProblem: (what: string, error: unknown) => void;
}

/** The session that this window follows. It runs in the extension host, so it goes on while no REPL is shown. */
export class WorkspaceSession implements AsyncDisposable {
  readonly #options: WorkspaceSessionOptions;
  #session: AgentSession | undefined;
  #view = new SessionView();
  #opening: Promise<AgentSession> | undefined;
  #stop = new AbortController();
  #following: Promise<void> = Promise.resolve();

  constructor(options: WorkspaceSessionOptions) {
    this.#options = options;
  }

  get session(): AgentSession | undefined {
    return this.#session;
  }

  /** The last session; undefined: this workspace had none. */
  get remembered(): string | undefined {
    return this.#options.remembered();
  }

  /** What the session's events came to so far. */
  get view(): SessionView {
    return this.#view;
  }

  get facts(): SessionFacts {
    return this.#view.facts.peek();
  }

  /** The session of the workspace: the followed one, the last one, or a new one. Rejects with `NoServerError`. */
  async open(): Promise<AgentSession> {
    if (this.#session !== undefined) return this.#session;
    this.#opening ??= this.#resumeOrStart().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Starts a new session and follows it. */
  async startNew(): Promise<AgentSession> {
    const { agent } = await this.#options.connect();
    const session = await AgentSession.start(agent, this.#options.identity(), this.#options.choice(), {
      interactive: true,
      signal: this.#stop.signal,
    });
    await this.#begin(session);
    return session;
  }

  /** Follows another session of the server, e.g. because the REPL shows it. */
  async follow(sessionId: string): Promise<AgentSession> {
    if (this.#session?.sessionId === sessionId) return this.#session;
    const { agent } = await this.#options.connect();
    const session = await AgentSession.resume(agent, this.#options.identity(), sessionId, {
      signal: this.#stop.signal,
    });
    await this.#begin(session);
    return session;
  }

  /** Continues the last session if its server runs; otherwise does nothing. */
  async resume(): Promise<void> {
    const sessionId = this.remembered;
    if (sessionId === undefined || this.#session !== undefined) return;
    await this.#options.find().then(
      () => this.showsSession(sessionId),
      () => undefined,
    );
  }

  /** Follows the session that a REPL shows. Never rejects. @param sessionId empty: the REPL shows none */
  async showsSession(sessionId: string): Promise<void> {
    if (sessionId === "") return;
    await this.follow(sessionId).catch((error: unknown) =>
      this.#options.onProblem(`Session ${sessionId} cannot be followed.`, error),
    );
  }

  /** Attaches again: the server is another one, or this window's right to answer has changed. */
  async attachAgain(): Promise<void> {
    const sessionId = this.#session?.sessionId;
    if (sessionId === undefined) return;
    this.#session = undefined;
    await this.follow(sessionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #resumeOrStart(): Promise<AgentSession> {
    const { remembered } = this;
    if (remembered === undefined) return this.startNew();
    try {
      return await this.follow(remembered);
    } catch (error) {
      // The server has another state directory, or has lost the session: a new one is started.
      if (error instanceof ConnectError && error.code === Code.NotFound) return this.startNew();
      throw error;
    }
  }

  async #begin(session: AgentSession): Promise<void> {
    this.#stop.abort();
    await this.#following;
    this.#stop = new AbortController();
    this.#session = session;
    this.#beginAnew();
    await this.#options.remember(session.sessionId);
    this.#options.onSession(session);
    this.#following = this.#run(session, this.#stop.signal);
  }

  async #run(session: AgentSession, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await this.#read(session, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof EventGapError) {
          this.#options.onProblem("Events were missing; the session is read again.", error);
          this.#beginAnew();
          continue;
        }
        this.#options.onProblem("The session can no longer be followed.", error);
        this.#options.onStream({ type: "lost", reason: errorMessage(error) });
        return;
      }
    }
  }

  async #read(session: AgentSession, signal: AbortSignal): Promise<void> {
    const events = session.follow({
      afterSeq: 0n,
      signal,
      onConnection: (change) =>
        this.#options.onStream(
          change.state === "connected" ? { type: "back" } : { type: "lost", reason: errorMessage(change.error) },
        ),
      onProblem: ({ requestId, error }) => this.#options.onProblem(`Request ${requestId} was not answered.`, error),
    });
    for await (const event of events) {
      const before = this.facts;
      this.#view.apply(event);
      if (this.facts !== before) this.#options.onFacts();
      this.#options.onEvent(event, session);
    }
  }

  #beginAnew(): void {
    this.#view = new SessionView();
    this.#options.onFacts();
  }
}
