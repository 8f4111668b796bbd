import type { ToolError } from "../tool-error.ts";

/** The running calls of a session: a user can stop each without the rest of its turn. */
export class RunningCalls {
  readonly #running = new Map<string, RunningCall>();

  /** To be disposed of when the call has ended. */
  open(call: CallName): RunningCall {
    const name = nameOf(call);
    const running = new RunningCall(() => {
      if (this.#running.get(name) === running) this.#running.delete(name);
    });
    this.#running.set(name, running);
    return running;
  }

  /** Resolves when the call has ended; false when no such call runs. What had not been kept of it by then is dropped. */
  async stop(call: CallName): Promise<boolean> {
    const running = this.#running.get(nameOf(call));
    if (running === undefined) return false;
    running.stop();
    await running.ended;
    return true;
  }
}

/** A call of a turn, in which each id is there once. */
interface CallName {
  readonly turnId: string;
  readonly callId: string;
}

export class RunningCall implements Disposable {
  readonly #stop = new AbortController();
  readonly #end = Promise.withResolvers<void>();
  readonly #forget: () => void;

  constructor(forget: () => void) {
    this.#forget = forget;
  }

  /** Aborts when a person stopped the call. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The error for the model. */
  get error(): ToolError | undefined {
    return this.#stop.signal.aborted ? stoppedByUser : undefined;
  }

  get ended(): Promise<void> {
    return this.#end.promise;
  }

  stop(): void {
    this.#stop.abort(new DOMException(stoppedByUser.message, "AbortError"));
  }

  [Symbol.dispose](): void {
    this.#forget();
    this.#end.resolve();
  }
}

const stoppedByUser: ToolError = {
  code: "stopped_by_user",
  message: "The user stopped this call while it ran, and not the turn.",
  hint: "Go on without it, or ask the user what to do instead; do not run the same again.",
  retryable: false,
};

function nameOf({ turnId, callId }: CallName): string {
  return `${turnId} ${callId}`;
}
