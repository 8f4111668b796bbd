import type { AgentClient } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { listSessions } from "@gennai/client/session/session-list";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** Most sessions that are followed at once: the newest. */
const mostFollowed = 3;
/** Sessions that are looked at for guarded ones. */
const limit = 20;
/** Milliseconds in which changes of files come to one look. */
const gatherMs = 1000;
const timeoutMs = 10_000;

export interface GuardedSessionsOptions {
  /** Absolute path of the folder. */
  readonly root: string;
  /** The server that is connected; undefined: none is. */
  readonly agent: () => AgentClient | undefined;
  readonly onEvent: (event: InvokeEvent, session: AgentSession) => void;
  readonly onProblem: (what: string, error: unknown) => void;
}

/** Follows the sessions of guarded agents in the folder, so that their changes are there to review like the own agent's. */
export class GuardedSessions implements Disposable {
  readonly #options: GuardedSessionsOptions;
  readonly #identity = { clientId: crypto.randomUUID(), name: "gennai-vscode-guard", version: "" };
  readonly #followed = new Map<string, AbortController>();
  #looking: ReturnType<typeof setTimeout> | undefined;

  constructor(options: GuardedSessionsOptions) {
    this.#options = options;
  }

  /** Looks for such sessions soon: a file changed, or a server was found. */
  look(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      void this.#look();
    }, gatherMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#looking);
    for (const stop of this.#followed.values()) stop.abort();
    this.#followed.clear();
  }

  /** Never rejects: the next change of a file looks again. */
  async #look(): Promise<void> {
    const { root, agent, onProblem } = this.#options;
    const client = agent();
    if (client === undefined) return;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const list = await listSessions(client, root, { limit, signal });
      const guarded = list.filter(({ guardedAgent }) => guardedAgent !== "").slice(0, mostFollowed);
      for (const [sessionId, stop] of this.#followed) {
        if (guarded.some((each) => each.sessionId === sessionId)) continue;
        stop.abort();
        this.#followed.delete(sessionId);
      }
      for (const { sessionId } of guarded) if (!this.#followed.has(sessionId)) void this.#follow(client, sessionId);
    } catch (error) {
      onProblem("Sessions of other agents could not be listed.", error);
    }
  }

  async #follow(client: AgentClient, sessionId: string): Promise<void> {
    const stop = new AbortController();
    const { signal } = stop;
    this.#followed.set(sessionId, stop);
    try {
      const session = await AgentSession.resume(client, this.#identity, sessionId, { signal });
      for await (const event of session.follow({ afterSeq: 0n, signal })) this.#options.onEvent(event, session);
    } catch (error) {
      if (!signal.aborted) this.#options.onProblem(`Session ${sessionId} cannot be followed.`, error);
    } finally {
      if (this.#followed.get(sessionId) === stop) this.#followed.delete(sessionId);
    }
  }
}
