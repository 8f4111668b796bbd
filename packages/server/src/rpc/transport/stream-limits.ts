import { ServiceError } from "@gennai/machine/service-error";
import { toConnectError } from "../connect-error.ts";

/** Longer than this no timer can wait. */
const longestTimer = 2 ** 31 - 1;

export interface StreamLimitsOptions {
  /** When the caller's token ends; milliseconds since the epoch. */
  readonly expires: number | undefined;
  /** Milliseconds for which the reader may take nothing; as many again, and `onStuck` is called. */
  readonly slowReaderMs: number;
  /** The reader does not even take the error. */
  readonly onStuck: () => void;
}

/**
 * Ends a stream with a typed error when the caller's token expires, or the reader stops reading: its part of the log is
 * released at once, and the client can continue later.
 */
export class StreamLimits implements Disposable {
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #options: StreamLimitsOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** By the monotonic clock; undefined while the server has nothing that waits for the reader. */
  #waitsSince: number | undefined;

  constructor(incoming: AbortSignal, options: StreamLimitsOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([incoming, this.#abort.signal]);
    const { expires, slowReaderMs } = options;
    if (expires !== undefined) this.#expireAt(expires);
    this.#timers.add(setInterval(() => this.#look(), slowReaderMs / 4).unref());
  }

  /** Passes an answer on as its reader takes it. */
  async *watched(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        this.#waitsSince = performance.now();
        yield chunk;
        this.#waitsSince = undefined;
      }
    } finally {
      this.#waitsSince = undefined;
    }
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #expireAt(expires: number): void {
    const left = expires - Date.now();
    if (left <= 0) {
      this.#end(
        new ServiceError("unauthenticated", "The token expired.", {
          reason: "token_expired",
          hint: "Get a fresh one, and go on after the last event you have.",
        }),
      );
      return;
    }
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#expireAt(expires);
      },
      Math.min(left, longestTimer),
    ).unref();
    this.#timers.add(timer);
  }

  #look(): void {
    const { slowReaderMs, onStuck } = this.#options;
    const waited = this.#waitsSince === undefined ? 0 : performance.now() - this.#waitsSince;
    if (waited >= 2 * slowReaderMs) onStuck();
    if (waited < slowReaderMs) return;
    this.#end(
      new ServiceError("resource_exhausted", "This client read nothing for too long.", {
        reason: "slow_reader",
        retryAfterMs: 1_000,
        hint: "Go on after the last event you have.",
      }),
    );
  }

  #end(error: ServiceError): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(toConnectError(error, () => undefined));
  }
}
