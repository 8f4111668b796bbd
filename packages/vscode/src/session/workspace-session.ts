import { Code, ConnectError } from "@connectrpc/connect";
import { FollowedSession } from "@gennai/client/agent/followed-session";
import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { SessionView } from "@gennai/client/view/session-view";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import pLimit from "p-limit";
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
  /** While none is followed. */
  readonly #nothing = new SessionView();
  readonly #end = new AbortController();
  /** One session is followed after the other: none is left behind, watched by nobody. */
  readonly #inOrder = pLimit(1);
  #session: AgentSession | undefined;
  #followed: FollowedSession | undefined;
  #opening: Promise<AgentSession> | undefined;

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
    return this.#followed?.view ?? this.#nothing;
  }

  get facts(): SessionFacts {
    return this.view.facts.peek();
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
      signal: this.#end.signal,
    });
    await this.#begin(session);
    return session;
  }

  /** Follows another session of the server, e.g. because the REPL shows it. */
  async follow(sessionId: string): Promise<AgentSession> {
    if (this.#session?.sessionId === sessionId) return this.#session;
    const { agent } = await this.#options.connect();
    const session = await AgentSession.resume(agent, this.#options.identity(), sessionId, {
      signal: this.#end.signal,
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
    this.#end.abort();
    await this.#inOrder(() => this.#followed?.[Symbol.asyncDispose]());
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

  #begin(session: AgentSession): Promise<void> {
    return this.#inOrder(() => this.#followNow(session));
  }

  async #followNow(session: AgentSession): Promise<void> {
    if (this.#end.signal.aborted) return;
    const { remember, onSession, onFacts, onEvent, onStream, onProblem } = this.#options;
    const before = this.#followed;
    this.#followed = undefined;
    await before?.[Symbol.asyncDispose]();
    this.#session = session;
    onFacts();
    await remember(session.sessionId);
    onSession(session);
    let { facts } = this;
    this.#followed = new FollowedSession(session, {
      onEvent: (event) => {
        if (this.facts !== facts) onFacts();
        ({ facts } = this);
        onEvent(event, session);
      },
      onWay: (way) => {
        if (way.state === "gone") onProblem("The session can no longer be followed.", way.error);
        onStream(way.state === "connected" ? { type: "back" } : { type: "lost", reason: errorMessage(way.error) });
      },
      onAnew: (error) => {
        onProblem("Events were missing; the session is read again.", error);
        onFacts();
      },
      onProblem: ({ requestId, error }) => onProblem(`Request ${requestId} was not answered.`, error),
    });
  }
}
