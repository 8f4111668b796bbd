import { timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  Attempt as AttemptMessage,
  AttemptSet as AttemptSetMessage,
} from "@gennai/protocol/gen/gennai/agent/v1/attempt_pb";
import {
  type AttemptCheckWord,
  type AttemptOutcomeWord,
  type AttemptPhaseWord,
  attemptCheckWords,
  attemptOutcomeWords,
  attemptPhaseWords,
} from "@gennai/protocol/model/session/attempt-words";
import type { AgentClient } from "./connection/connection.ts";
import { retryingCall } from "./connection/retrying-call.ts";

/** One attempt at a prompt, as a client sees it. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly phase: AttemptPhaseWord;
  /** Clients that follow this session see the attempt work and answer its requests; empty before it exists. */
  readonly sessionId: string;
  /** undefined before it has ended. */
  readonly outcome: AttemptOutcomeWord | undefined;
  readonly check: AttemptCheckWord;
  /** The end of what the check printed. */
  readonly checkOutput: string;
  /** The model's last words, or why it failed. */
  readonly text: string;
  readonly addedLines: number;
  readonly removedLines: number;
  readonly tokens: number;
  /** undefined where no price is known. */
  readonly cost: { readonly amount: number; readonly currency: string } | undefined;
  readonly changes: readonly AttemptChange[];
}

/** A file that an attempt changed. */
export interface AttemptChange {
  readonly path: string;
  /** SHA-256; undefined: there was none, or it is gone. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** A link on either side: it is not proposed. */
  readonly isLink: boolean;
}

/** The attempts at one prompt. */
export interface AttemptSet {
  readonly id: string;
  readonly prompt: string;
  /** The command that decides. */
  readonly check: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly isRunning: boolean;
  /** In their order while they run, best first after that. */
  readonly attempts: readonly Attempt[];
  /** Number of the suggested attempt. */
  readonly suggested: number | undefined;
}

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

export const mostAttempts = 8;

interface CallOptions {
  readonly signal: AbortSignal;
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
    return setFromMessage((await retryingCall(begin, { signal, attempts: 6 })).attempts);
  }

  /** Newest first. */
  async list({ signal }: CallOptions): Promise<readonly AttemptSet[]> {
    const { attempts } = await this.#client.listAttempts({ sessionId: this.#sessionId }, { signal });
    return attempts.map(setFromMessage);
  }

  /** Resolves when it has ended. @param number 0: all of them */
  async stop(attemptsId: string, number: number, { signal }: CallOptions): Promise<AttemptSet> {
    const request = { sessionId: this.#sessionId, attemptsId, number };
    return setFromMessage((await this.#client.stopAttempts(request, { signal })).attempts);
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

function setFromMessage(message: AttemptSetMessage | undefined): AttemptSet {
  const { attemptsId = "", prompt = "", check = "", startedAt, running = false, attempts = [] } = message ?? {};
  return {
    id: attemptsId,
    prompt,
    check,
    startedAt: startedAt === undefined ? 0 : timestampMs(startedAt),
    isRunning: running,
    attempts: attempts.map(attemptFromMessage),
    suggested: message?.suggested || undefined,
  };
}

function attemptFromMessage(message: AttemptMessage): Attempt {
  const { number, phase, sessionId, outcome, check, checkOutput, text, addedLines, removedLines, cost } = message;
  return {
    number,
    phase: attemptPhaseWords.fromMessage(phase) ?? "waiting",
    sessionId,
    outcome: attemptOutcomeWords.fromMessage(outcome),
    check: attemptCheckWords.fromMessage(check) ?? "not_run",
    checkOutput,
    text,
    addedLines,
    removedLines,
    tokens: Number(message.tokens),
    cost: cost === undefined ? undefined : { amount: cost, currency: message.currency },
    changes: message.changes.map(({ path, beforeSha256, afterSha256, link }) => ({
      path,
      before: beforeSha256 || undefined,
      after: afterSha256 || undefined,
      isLink: link,
    })),
  };
}
