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
import type { ClientAnswer } from "./client-answer.ts";
import type { ClientAbility, ClientRegistry } from "./client-registry.ts";
import { judgedAnswer } from "./judged-answer.ts";
import { maskedRequest } from "./masked-request.ts";

/** What the requests need of their session. */
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
      /** Who answered, on a server with many users. */
      readonly user?: string;
    }
  | { readonly type: "timeout" }
  /** No client that can answer was attached for so long that waiting ended. */
  | { readonly type: "nobody" };

/** Watches requests to clients, each until its answer or the end of the waiting. */
export interface RequestObserver {
  bridge(kind: ClientRequestBody["kind"], run: () => Promise<RequestEnd>): Promise<RequestEnd>;
}

/** What a timer can wait for, in milliseconds: 24 days. Longer is for ever. */
const longestTimer = 2 ** 31 - 1;

interface Pending {
  request: ClientRequest;
  readonly turnId: string;
  settle(end: RequestEnd): void;
  /** Clients that have nobody to ask. */
  readonly withoutPerson: Set<string>;
  /** From now on no time is too long for anyone who is attached. */
  stopCounting(): void;
  /** `answering`: an answer was taken and is being made durable. `over`: nothing is taken any more. */
  state: "open" | "answering" | "answered" | "over";
  readonly onProgress: ((text: string) => void) | undefined;
  readonly durable: boolean;
}

/**
 * Requests to clients: durable before they are sent, each answered once. The first valid answer wins. The clock runs only
 * while a client that can answer is attached.
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
    /** Milliseconds to wait for a client that can answer, where a request says nothing else. */
    readonly waitForClientMs: number;
    readonly now: () => number;
    /** For what the log keeps; anyone who answers gets the exact request. */
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

  /** The exact request, as long as it is open; the log has it masked. */
  get(requestId: string): ClientRequest | undefined {
    return this.#pending.get(requestId)?.request;
  }

  /** Sends a request and waits for its answer. Rejects only when the signal aborts or the log cannot be written. */
  async ask(
    body: ClientRequestBody,
    options: {
      readonly ability: ClientAbility;
      readonly turnId: string;
      readonly signal: AbortSignal;
      /** Milliseconds an attached client has; `Infinity`: until it answers. */
      readonly answerMs: number;
      readonly waitForClientMs?: number;
      readonly onProgress?: (text: string) => void;
      /** False for what changes nothing: it need not be on disk before it is asked. */
      readonly durable?: boolean;
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

    // An answer may arrive as soon as the request is in the log: everything that can settle it is in place before.
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    aborted.catch(() => undefined);
    const onAbort = (): void => {
      // An answer that is being taken stands, and ends the waiting by itself.
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
   * Takes an answer for an open request; resolves when it is durable. The caller has checked kind and content.
   * @throws ServiceError `already_exists` when somebody else answered first, `failed_precondition` when it is over
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
      // The log takes nothing any more: anyone who waits learns it by its own next write.
      pending.settle({ type: "nobody" });
      throw error;
    }
    pending.settle({ type: "answered", answer, clientId, ...(user === "" ? {} : { user }) });
  }

  /**
   * Notes that this client has nobody to ask. False where no other client shows the question: then its word ends it. When the last of the
   * others goes, the question waits for one to come, as it does where no client is attached.
   */
  leaveToOthers(requestId: string, clientId: string): boolean {
    const pending = this.#pending.get(requestId);
    if (pending?.state !== "open") return false;
    pending.withoutPerson.add(clientId);
    return this.#clients.offersBesides("confirmation", pending.withoutPerson);
  }

  /**
   * Stops the count of a question to a person; resolves when every client is told, or was before.
   * @throws ServiceError `failed_precondition` when it is over or asks no person
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

  /** What a person is asked right now; undefined when nothing is. It is the exact question, not masked. */
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
      // A page that is loaded anew is back in a moment: until then it is as if nobody were there, anyone else has no person.
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
        // Where nobody is attached, that wait goes on.
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

  /** Ends it without an answer. */
  #resolve(requestId: string, resolution: RequestResolution, turnId: string): Promise<void> {
    const resolved = { type: "client-request-resolved", requestId, resolution, clientId: "" } as const;
    return this.#log().commit([resolved], { turnId, durable: true });
  }
}

/** undefined for what is not a question of the gate. */
function replyTo(request: ClientRequest, answer: ClientAnswer): ResolvedReply | undefined {
  if (request.kind !== "confirmation" || answer.kind !== "confirmation") return undefined;
  const judged = judgedAnswer(request.question, answer, "");
  if (judged.type === "yes") return { answer: "yes", scope: judged.scope };
  return { answer: judged.type === "nobody" ? "nobody" : "no" };
}
