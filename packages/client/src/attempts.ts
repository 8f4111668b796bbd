import type { AttemptSet as AttemptSetMessage } from "@gennai/protocol/gen/gennai/agent/v1/attempt_pb";
import { type AttemptSet, attemptSetFromMessage } from "@gennai/protocol/model/session/attempt";
import type { AgentClient, CallOptions } from "./connection/connection.ts";
import { retryingCall } from "./connection/retrying-call.ts";

/** A request for attempts. */
export interface AttemptsWish {
  /** Created by the caller: repeating it gives the same attempts. */
  readonly id: string;
  readonly text: string;
  readonly scenario?: string;
  readonly enableThinking?: boolean;
  readonly images?: readonly Uint8Array[];
  /** 2 to 8. */
  readonly count: number;
  readonly parallel?: number;
  /** The command that decides; the project's own check without it. */
  readonly check?: string;
  readonly models?: readonly string[];
  /** HOST:PORT that the check may reach. */
  readonly allow?: readonly string[];
}

/** Requests to a server about the attempts of a session's workspace. Every method rejects with `ConnectError`. */
export class SessionAttempts {
  readonly #client: AgentClient;
  readonly #sessionId: string;

  constructor(client: AgentClient, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  /** Resolves when they are under way. Begins them once, however often the way to the server breaks. */
  async start(wish: AttemptsWish, { signal }: CallOptions): Promise<AttemptSet> {
    const { id, text, scenario = "", enableThinking = true, images = [], count, parallel = 0, check = "" } = wish;
    const request = {
      sessionId: this.#sessionId,
      clientAttemptsId: id,
      userInput: text,
      scenario,
      enableThinking,
      images: [...images],
      count,
      parallel,
      check,
      models: [...(wish.models ?? [])],
      allow: [...(wish.allow ?? [])],
    };
    const begin = () => this.#client.startAttempts(request, { signal });
    return setOf((await retryingCall(begin, { signal, attempts: 6 })).attempts);
  }

  /** Newest first. */
  async list({ signal }: CallOptions): Promise<readonly AttemptSet[]> {
    const { attempts } = await this.#client.listAttempts({ sessionId: this.#sessionId }, { signal });
    return attempts.map(attemptSetFromMessage);
  }

  /** Resolves when it has ended. @param number 0: all of them */
  async stop(attemptsId: string, number: number, { signal }: CallOptions): Promise<AttemptSet> {
    const request = { sessionId: this.#sessionId, attemptsId, number };
    return setOf((await this.#client.stopAttempts(request, { signal })).attempts);
  }

  /** Makes it the session's proposal. @returns its id */
  async take(attemptsId: string, number: number, { signal }: CallOptions): Promise<string> {
    const request = { sessionId: this.#sessionId, attemptsId, number };
    return (await this.#client.takeAttempt(request, { signal })).proposalId;
  }

  async drop(attemptsId: string, { signal }: CallOptions): Promise<void> {
    await this.#client.dropAttempts({ sessionId: this.#sessionId, attemptsId }, { signal });
  }

  /** Content of a file in an attempt. */
  async content(attemptsId: string, sha256: string, { signal }: CallOptions): Promise<Uint8Array> {
    const request = { sessionId: this.#sessionId, attemptsId, sha256 };
    return (await this.#client.getAttemptContent(request, { signal })).content;
  }
}

function setOf(message: AttemptSetMessage | undefined): AttemptSet {
  if (message === undefined) throw new Error("The server's answer lacks the attempts.");
  return attemptSetFromMessage(message);
}
