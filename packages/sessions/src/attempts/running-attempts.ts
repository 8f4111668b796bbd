import type { SessionEvent } from "@gennai/agent/events/session-event";
import { ServiceError } from "@gennai/machine/service-error";
import type { Attempt } from "@gennai/protocol/model/session/attempt";
import pLimit from "p-limit";
import type { Session } from "../session/session.ts";
import { waitingAttempt, withAttempts } from "./attempt.ts";
import { AttemptBudget } from "./attempt-budget.ts";
import type { AttemptRecord } from "./kept-attempts.ts";
import { type Attempts, makeAttempt } from "./make-attempt.ts";

/** Attempts in progress: run in parallel, recorded as they progress, and stopped singly or all together. */
export class RunningAttempts {
  readonly #all: Attempts;
  readonly #makers: readonly { readonly stop: AbortController; readonly ended: PromiseWithResolvers<void> }[];
  readonly #end = new AbortController();
  readonly #budget: AttemptBudget;
  #record: AttemptRecord;
  readonly #ended: Promise<void>;
  #closed = Promise.resolve();

  constructor(all: Attempts) {
    this.#all = all;
    const { session, request, check, open } = all;
    const numbers = Array.from({ length: request.count }, (_, index) => index + 1);
    this.#makers = numbers.map(() => ({ stop: new AbortController(), ended: Promise.withResolvers<void>() }));
    this.#budget = new AttemptBudget(leftOf(session), request.count);
    this.#record = {
      workspace: session.workspace.root,
      user: session.user,
      clientId: request.clientId,
      set: {
        id: open.id,
        prompt: request.input.text,
        check,
        startedAt: session.services.now(),
        startedIn: session.id,
        isRunning: true,
        attempts: numbers.map(waitingAttempt),
        suggested: undefined,
      },
    };
    open.write(this.#record);
    this.#ended = this.#run(numbers);
  }

  /** The session in which they were requested. */
  get session(): Session {
    return this.#all.session;
  }

  /** Whether one of them is made in this directory. */
  worksIn(directory: string): boolean {
    return this.#all.copies.directories.includes(directory);
  }

  /** Resolves when all have ended and their copies are gone. Never rejects. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Sets what removes the copies when all attempts have ended. */
  closeBy(copies: AsyncDisposable, onClosed: () => void): void {
    const { onUnexpectedError } = this.session.services;
    const close = async (): Promise<void> => {
      await this.#ended;
      await copies[Symbol.asyncDispose]();
    };
    this.#closed = close()
      .catch(onUnexpectedError)
      .then(() => this.#tell())
      .then(onClosed);
  }

  /** Resolves when it has ended. @param number 0: all */
  async stop(number: number): Promise<void> {
    const meant = number === 0 ? this.#makers : this.#makers.slice(number - 1, number);
    for (const { stop } of meant) stop.abort();
    await Promise.all(meant.map(({ ended }) => ended.promise));
  }

  /** The server is shutting down: nothing more is measured. Resolves when the copies are no longer in use. */
  async leave(): Promise<void> {
    this.#end.abort(new DOMException("The server ends.", "AbortError"));
    await this.stop(0);
    await this.#closed;
  }

  async #run(numbers: readonly number[]): Promise<void> {
    const limit = pLimit(this.#all.request.parallel);
    await this.#tell();
    await Promise.all(numbers.map((number) => limit(() => this.#make(number))));
  }

  /** Never rejects. */
  async #make(number: number): Promise<void> {
    const maker = this.#makers[number - 1];
    const stop = maker?.stop.signal ?? AbortSignal.abort();
    const share = stop.aborted ? undefined : this.#budget.begin();
    try {
      stop.throwIfAborted();
      if (share === undefined)
        throw new ServiceError("failed_precondition", "The budget is used up, so it did not start.");
      const made = await makeAttempt(this.#all, {
        number,
        limits: share.limits,
        stop,
        end: this.#end.signal,
        onProgress: (reached) => this.#reached(number, reached),
        onUsed: (used) => void this.#tell({ attempt: number, used }),
      });
      share.ended({ tokens: made.tokens, cost: made.cost?.amount ?? 0 });
      this.#reached(number, made);
    } catch (error) {
      if (!this.#end.signal.aborted) this.#reached(number, this.#failed(error, stop));
    }
    maker?.ended.resolve();
  }

  #failed(error: unknown, stop: AbortSignal): Partial<Attempt> {
    if (stop.aborted) return { phase: "ended", outcome: "cancelled", text: "It was stopped." };
    if (error instanceof ServiceError) return { phase: "ended", outcome: "failed", text: error.message };
    this.session.services.onUnexpectedError(error);
    const text = "It failed unexpectedly; the server's log says why.";
    return { phase: "ended", outcome: "failed", text };
  }

  #reached(number: number, reached: Partial<Attempt>): void {
    const { set } = this.#record;
    const attempts = set.attempts.map((one) => (one.number === number ? { ...one, ...reached } : one));
    this.#record = { ...this.#record, set: withAttempts(set, attempts) };
    this.#all.open.write(this.#record);
    void this.#tell({ attempt: number });
  }

  /** Never rejects: clients get the current state with the next event. */
  async #tell(what: Pick<AttemptsChanged, "attempt" | "used"> = { attempt: 0 }): Promise<void> {
    await tellOf(this.session, { attemptsId: this.#all.open.id, ...what });
  }
}

type AttemptsChanged = Extract<SessionEvent, { readonly type: "attempts-changed" }>;

/** Logs in a session that attempts changed. Never rejects: the session may be gone. */
export async function tellOf(session: Session, what: Omit<AttemptsChanged, "type">): Promise<void> {
  try {
    await session.announce({ type: "attempts-changed", ...what });
  } catch (error) {
    if (!(error instanceof ServiceError)) session.services.onUnexpectedError(error);
  }
}

/** What is left of the session's limits after its own turns. */
function leftOf({ settings, state }: Session): ConstructorParameters<typeof AttemptBudget>[0] {
  const { maxSessionTokens, maxTurnTokens, maxCost } = settings;
  const { inputTokens, outputTokens, cost } = state.usage;
  // 0 would mean no limit: if nothing is left, use one that is too small for any call.
  return {
    maxTurnTokens,
    maxSessionTokens: maxSessionTokens === 0 ? 0 : Math.max(1, maxSessionTokens - inputTokens - outputTokens),
    maxCost: maxCost === 0 ? 0 : Math.max(Number.MIN_VALUE, maxCost - (cost?.amount ?? 0)),
  };
}
