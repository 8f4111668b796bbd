import { randomUUID } from "node:crypto";
import type {
  ClientRequest,
  ClientRequestBody,
  RequestResolution,
  ResolvedReply,
} from "@gennai/agent/events/client-request";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Question } from "@gennai/governance/confirmation";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import type { Redactor } from "@gennai/governance/redaction";
import { ServiceError } from "@gennai/machine/service-error";
import { type ClientAnswer, judgedAnswer } from "./client-answer.ts";
import type { ClientAbility, ClientRegistry } from "./client-registry.ts";
import { maskedRequest } from "./masked-request.ts";

/** What the requests need from their session. */
export interface RequestLog {
  readonly epoch: number;
  commit(
    events: readonly SessionEvent[],
    options: { readonly turnId: string; readonly ledger?: readonly LedgerEntry[]; readonly durable: boolean },
  ): Promise<void>;
}

export type RequestEnd =
  | {
      readonly type: "answered";
      readonly answer: ClientAnswer;
      readonly clientId: string;
      /** The user who answered, on a server with several users. */
      readonly user?: string;
    }
  | { readonly type: "timeout" }
  /** For too long, no client was attached that could answer. */
  | { readonly type: "nobody" };

/** Observes each request to clients until it is answered or given up. */
export interface RequestObserver {
  bridge(kind: ClientRequestBody["kind"], run: () => Promise<RequestEnd>): Promise<RequestEnd>;
}

/** The longest time a timer can wait, in milliseconds: 24 days. Anything longer is for ever. */
const longestTimer = 2 ** 31 - 1;

interface Pending {
  request: ClientRequest;
  readonly turnId: string;
  settle(end: RequestEnd): void;
  /** Clients that have nobody to ask. */
  readonly withoutPerson: Set<string>;
  /** From now on, attached clients have unlimited time. */
  stopCounting(): void;
  /** `answering`: an answer was accepted and is being made durable. `over`: no more answers are accepted. */
  state: "open" | "answering" | "answered" | "over";
  readonly onProgress: ((text: string) => void) | undefined;
  readonly durable: boolean;
}

/**
 * Requests to clients: durable before they are sent, each answered once. The first valid answer wins. Time counts only while a
 * client that can answer is attached.
 */
export class PendingRequests {
  readonly #clients: ClientRegistry;
  readonly #log: () => RequestLog;
  readonly #pending = new Map<string, Pending>();
  readonly #waitForClientMs: number;
  readonly #now: () => number;
  readonly #redactor: Redactor;
  readonly #observer: RequestObserver;

  constructor(options: {
    readonly clients: ClientRegistry;
    readonly log: () => RequestLog;
    /** Milliseconds to wait for a client that can answer, unless the request says otherwise. */
    readonly waitForClientMs: number;
    readonly now: () => number;
    /** For the logged request; clients get the exact one. */
    readonly redactor: Redactor;
    readonly observer?: RequestObserver;
  }) {
    this.#clients = options.clients;
    this.#log = options.log;
    this.#waitForClientMs = options.waitForClientMs;
    this.#now = options.now;
    this.#redactor = options.redactor;
    this.#observer = options.observer ?? { bridge: (_kind, run) => run() };
  }

  /** The exact request while it is open; the log has it masked. */
  get(requestId: string): ClientRequest | undefined {
    return this.#pending.get(requestId)?.request;
  }

  /** Sends a request and waits for its answer. Rejects only if the signal aborts or the log cannot be written. */
  async ask(
    body: ClientRequestBody,
    options: {
      readonly ability: ClientAbility;
      readonly turnId: string;
      readonly signal: AbortSignal;
      /** Milliseconds an attached client has to answer; `Infinity`: no limit. */
      readonly answerMs: number;
      readonly waitForClientMs?: number;
      readonly onProgress?: (text: string) => void;
      /** False if the request changes nothing: then it need not be on disk before it is sent. */
      readonly durable?: boolean;
      /** Called when it is open; what it gives is disposed at its end. @param logged the request, masked */
      readonly onOpen?: ((logged: ClientRequest) => Disposable | undefined) | undefined;
    },
  ): Promise<RequestEnd> {
    const log = this.#log();
    const { answerMs } = options;
    const canAnswerNow = this.#clients.offers(options.ability);
    const request: ClientRequest = {
      requestId: randomUUID(),
      ownerEpoch: log.epoch,
      deadline: canAnswerNow && answerMs <= longestTimer ? this.#now() + answerMs : 0,
      ...body,
    };
    const { promise, resolve } = Promise.withResolvers<RequestEnd>();
    const durable = options.durable ?? true;
    const pending: Pending = {
      durable,
      request,
      turnId: options.turnId,
      state: "open",
      onProgress: options.onProgress,
      withoutPerson: new Set(),
      stopCounting: () => {},
      settle: (end) => {
        pending.state = end.type === "answered" ? "answered" : "over";
        resolve(end);
      },
    };
    this.#pending.set(request.requestId, pending);

    // An answer may arrive as soon as the request is logged: set up everything that can settle it first.
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    aborted.catch(() => undefined);
    const onAbort = (): void => {
      // An answer that is being accepted wins, and ends the wait by itself.
      if (pending.state !== "open") return;
      pending.state = "over";
      reject(options.signal.reason);
    };
    options.signal.addEventListener("abort", onAbort);
    const { ability, waitForClientMs = this.#waitForClientMs } = options;
    const clock = this.#startClock(pending, ability, { answerMs, waitForClientMs });
    pending.stopCounting = () => clock.stop();
    let committed = false;
    try {
      options.signal.throwIfAborted();
      const logged = await maskedRequest(request, this.#redactor);
      options.signal.throwIfAborted();
      await log.commit(
        [
          { type: "client-request", request: logged },
          ...(canAnswerNow ? [] : [{ type: "status", state: "waiting-for-client", iteration: 0 } as const]),
        ],
        { turnId: options.turnId, durable },
      );
      committed = true;
      using _open = options.onOpen?.(logged);
      const end = await this.#observer.bridge(body.kind, () => Promise.race([promise, aborted]));
      if (end.type !== "answered") await this.#resolve(request.requestId, "timeout", options.turnId);
      return end;
    } catch (error) {
      const asked = committed && options.signal.aborted;
      if (asked) await this.#resolve(request.requestId, "cancelled", options.turnId);
      throw error;
    } finally {
      clock[Symbol.dispose]();
      options.signal.removeEventListener("abort", onAbort);
      this.#pending.delete(request.requestId);
    }
  }

  /**
   * Accepts an answer to an open request; resolves when it is durable. The caller has checked its kind and content.
   * @throws ServiceError `already_exists` if another client answered first, `failed_precondition` if the request is over
   */
  async answer(requestId: string, answer: ClientAnswer, clientId: string, user = ""): Promise<void> {
    const pending = this.#pending.get(requestId);
    if (pending === undefined || pending.state === "over") {
      throw new ServiceError("failed_precondition", "This request is over; the answer came too late.");
    }
    if (pending.state !== "open") {
      throw new ServiceError("already_exists", "This request was answered already; the first answer counts.");
    }
    pending.state = "answering";
    try {
      const reply = replyTo(pending.request, answer);
      await this.#log().commit(
        [
          {
            type: "client-request-resolved",
            requestId,
            resolution: "answered",
            clientId,
            ...(reply === undefined ? {} : { reply }),
            ...(user === "" ? {} : { user }),
          },
        ],
        { turnId: pending.turnId, durable: pending.durable },
      );
    } catch (error) {
      // The log accepts no more writes: the waiting caller learns it from its own next write.
      pending.settle({ type: "nobody" });
      throw error;
    }
    pending.settle({ type: "answered", answer, clientId, ...(user === "" ? {} : { user }) });
  }

  /**
   * Records that this client has nobody to ask. False if no other client shows the question: then this answer ends it. When the
   * last other client leaves, the question waits for a new one, as if no client were attached.
   */
  leaveToOthers(requestId: string, clientId: string): boolean {
    const pending = this.#pending.get(requestId);
    if (pending?.state !== "open") return false;
    pending.withoutPerson.add(clientId);
    return this.#clients.offersBesides("confirmation", pending.withoutPerson);
  }

  /**
   * Removes the deadline of a question to a user; resolves when every client has been told.
   * @throws ServiceError `failed_precondition` if the request is over or is not for a user
   */
  async waitFor(requestId: string): Promise<void> {
    const pending = this.#pending.get(requestId);
    if (pending === undefined || pending.state !== "open") {
      throw new ServiceError("failed_precondition", "This question is over.");
    }
    const { kind, deadline } = pending.request;
    if (kind !== "confirmation" && kind !== "user-question") {
      throw new ServiceError("failed_precondition", "A person cannot answer this request.");
    }
    pending.stopCounting();
    if (deadline === 0) return;
    pending.request = { ...pending.request, deadline: 0 };
    await this.#log().commit([{ type: "client-request-waits", requestId }], { turnId: pending.turnId, durable: false });
  }

  /** The exact question now open to a user, unmasked; undefined if there is none. */
  get openQuestion(): Question | undefined {
    for (const { request, state } of this.#pending.values()) {
      if (request.kind === "confirmation" && state === "open") return request.question;
    }
    return undefined;
  }

  /** Requests without an answer yet. */
  get openCount(): number {
    return this.#pending.size;
  }

  progress(requestId: string, text: string): void {
    const pending = this.#pending.get(requestId);
    if (pending !== undefined && pending.state === "open") pending.onProgress?.(text);
  }

  #startClock(
    pending: Pending,
    ability: ClientAbility,
    timing: { readonly answerMs: number; readonly waitForClientMs: number },
  ): Disposable & { stop(): void } {
    let timer: NodeJS.Timeout | undefined;
    let left = timing.answerMs;
    let runningSince = 0;
    const give = (end: RequestEnd): void => {
      if (pending.state === "open") pending.settle(end);
    };
    const waitForClient = (): void => {
      timer = setTimeout(() => {
        give({ type: "nobody" });
      }, timing.waitForClientMs);
    };
    const update = (): void => {
      // Clients without a user do not count: while a page reloads, it is as if no client were attached.
      const attached = this.#clients.offersBesides(ability, pending.withoutPerson);
      const running = runningSince !== 0;
      if (attached === running && timer !== undefined) return;
      clearTimeout(timer);
      if (attached) {
        runningSince = this.#now();
        timer = setTimeout(
          () => {
            if (left <= longestTimer) give({ type: "timeout" });
          },
          Math.min(left, longestTimer),
        );
      } else {
        if (running) left = Math.max(0, left - (this.#now() - runningSince));
        runningSince = 0;
        waitForClient();
      }
    };
    update();
    const subscription = this.#clients.onChange(update);
    return {
      stop: () => {
        left = Number.POSITIVE_INFINITY;
        // While no client is attached, the other wait goes on.
        if (runningSince === 0) return;
        clearTimeout(timer);
        timer = undefined;
        update();
      },
      [Symbol.dispose]: () => {
        clearTimeout(timer);
        subscription[Symbol.dispose]();
      },
    };
  }

  /** Ends the request without an answer. */
  #resolve(requestId: string, resolution: RequestResolution, turnId: string): Promise<void> {
    const resolved = { type: "client-request-resolved", requestId, resolution, clientId: "" } as const;
    return this.#log().commit([resolved], { turnId, durable: true });
  }
}

/** Undefined if the request is not a question of the gate. */
function replyTo(request: ClientRequest, answer: ClientAnswer): ResolvedReply | undefined {
  if (request.kind !== "confirmation" || answer.kind !== "confirmation") return undefined;
  const judged = judgedAnswer(request.question, answer, "");
  if (judged.type === "yes") return { answer: "yes", scope: judged.scope };
  return { answer: judged.type === "nobody" ? "nobody" : "no" };
}
