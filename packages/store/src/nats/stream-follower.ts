import { setTimeout as delay } from "node:timers/promises";
import { type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { StoreError } from "../database/store-error.ts";
import type { StreamAccess } from "./create-once.ts";

/** Messages that are taken together. */
const group = 256;
/** Milliseconds without a message that is known to exist, after which another consumer is created. */
const stallMs = 1_500;
const timeoutMs = 30_000;
/** Milliseconds between looks whether the stream has more than what came: a consumer can go silent with its node. */
const watchMs = 2_000;
/** Milliseconds without a successful look after which calls can no longer count on this follower. */
const currentMs = 12_000;

export interface FollowerOptions {
  /** Position of the last message taken before; 0 for none. */
  readonly position: () => number;
  /**
   * Takes messages in order. When it rejects with `StoreError` `newer_format` or `corrupt`, following ends for good; after
   * anything else (a full disk, NATS that does not answer) it is given the same messages again.
   */
  take(messages: readonly JsMsg[]): Promise<void>;
  /** Called once, if following ends by itself. */
  readonly onFailure: (error: unknown) => void;
}

/** Follows a stream from where the last process stopped, over lost connections and nodes, without a gap. */
export class StreamFollower implements AsyncDisposable {
  readonly #access: StreamAccess;
  readonly #options: FollowerOptions;
  readonly #running: Promise<void>;
  readonly #waiters = new Set<() => void>();
  readonly #watch: NodeJS.Timeout;
  #messages: ConsumerMessages | undefined;
  #queue: JsMsg[] = [];
  #taking: Promise<void> | undefined;
  #closed = false;
  #failure: StoreError | undefined;
  /** Why the last messages could not be taken; undefined once they are. */
  #trouble: unknown;
  /** True once messages were not taken: what the present consumer sends does not follow. */
  #hasGap = false;
  /** By `performance.now`. */
  #caughtUpAt = performance.now();

  constructor(access: StreamAccess, options: FollowerOptions) {
    this.#access = access;
    this.#options = options;
    this.#running = this.#follow();
    let looking = false;
    this.#watch = setInterval(() => {
      if (looking) return;
      looking = true;
      this.caughtUp()
        .catch(() => undefined)
        .finally(() => {
          looking = false;
        });
    }, watchMs);
    this.#watch.unref();
  }

  /** False when calls that need the newest messages would fail. */
  get isCurrent(): boolean {
    return this.#failure === undefined && performance.now() - this.#caughtUpAt < currentMs;
  }

  /** Resolves when everything that was in the stream when this was called is taken. Rejects with `StoreError`. */
  async caughtUp(): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (let attempt = 0; ; attempt++) {
      this.#assertFollowing();
      try {
        // Answered by the stream's leader, which knows every message that was acknowledged.
        const { state } = await this.#access.manager.streams.info(this.#access.stream);
        await this.reached(state.last_seq, deadline);
        this.#caughtUpAt = performance.now();
        return;
      } catch (error) {
        if (error instanceof StoreError) throw error;
        if (performance.now() > deadline) throw logUnavailable(error);
        await delay(Math.min(50 * (attempt + 1), 500));
      }
    }
  }

  /** Resolves when the message at this position is taken. */
  async reached(position: number, deadline: number = performance.now() + timeoutMs): Promise<void> {
    let moved = performance.now();
    let last = this.#options.position();
    while (this.#options.position() < position) {
      this.#assertFollowing();
      await this.#change();
      const now = performance.now();
      if (this.#options.position() !== last) {
        last = this.#options.position();
        moved = now;
      } else if (now - moved > stallMs) {
        // Its node may be gone: the consumer would notice that only later.
        moved = now;
        this.#messages?.stop();
      }
      if (now > deadline) throw this.#trouble instanceof StoreError ? this.#trouble : logUnavailable(this.#trouble);
    }
  }

  /** Resolves when more was taken, or nothing for a second. Rejects when the signal aborts, and with `StoreError`. */
  async moved(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#assertFollowing();
    await this.#change(1_000, signal);
    signal.throwIfAborted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    this.#messages?.stop();
    this.#wake();
    await this.#running;
    await this.#taking;
  }

  #assertFollowing(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw new StoreError("closed", "The store is closed: open it again to use it.");
  }

  async #follow(): Promise<void> {
    while (!this.#closed && this.#failure === undefined) {
      try {
        await this.#taking;
        this.#queue = [];
        this.#hasGap = false;
        const consumer = await this.#access.client.consumers.get(this.#access.stream, {
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: this.#options.position() + 1,
          inactive_threshold: 30_000,
        });
        this.#messages = await consumer.consume({ max_messages: 2_000, idle_heartbeat: 1_000 });
        if (this.#closed) this.#messages.stop();
        let received = this.#options.position();
        for await (const message of this.#messages) {
          if (this.#hasGap) break;
          if (message.seq <= received) continue;
          // Consumers were seen to skip messages that the stream has: a new one begins where they are missing.
          if (message.seq !== received + 1 && !(await this.#isNextAfter(received, message))) break;
          received = message.seq;
          this.#queue.push(message);
          this.#taking ??= this.#takeQueued();
          // Waits, so that the queue does not grow without limit.
          if (this.#queue.length > 8 * group) await this.#taking;
        }
      } catch {
        // The connection recovers by itself; a consumer is then created again.
      }
      this.#messages?.stop();
      if (!this.#closed && this.#failure === undefined) await delay(this.#trouble === undefined ? 100 : 1_000);
    }
  }

  /** False if the stream has a message between the two. Rejects if NATS does not say. */
  async #isNextAfter(position: number, { seq }: JsMsg): Promise<boolean> {
    const { manager, stream } = this.#access;
    // The leader's answer: https://docs.nats.io/reference/jetstream/api/stream/info
    const { state } = await manager.streams.info(stream, { deleted_details: true });
    const deleted = new Set(state.deleted);
    for (let between = Math.max(position + 1, state.first_seq); between < seq; between++) {
      if (!deleted.has(between)) return false;
    }
    return true;
  }

  async #takeQueued(): Promise<void> {
    // Takes messages of the same packet together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      while (this.#queue.length > 0) {
        await this.#options.take(this.#queue.splice(0, group));
        this.#trouble = undefined;
        this.#wake();
      }
    } catch (error) {
      this.#trouble = error;
      this.#hasGap = true;
      this.#queue = [];
      this.#messages?.stop();
      if (error instanceof StoreError && (error.code === "newer_format" || error.code === "corrupt")) {
        this.#failure = error;
        this.#wake();
        if (!this.#closed) this.#options.onFailure(error);
      }
    } finally {
      this.#taking = undefined;
    }
  }

  async #change(timeoutMs = 500, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    this.#waiters.add(resolve);
    const stop = (): void => resolve();
    signal?.addEventListener("abort", stop);
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    this.#waiters.delete(resolve);
  }

  #wake(): void {
    for (const waiter of this.#waiters) waiter();
  }
}

/** The error if NATS did not answer in time. */
export function logUnavailable(cause: unknown): StoreError {
  return new StoreError("unavailable", "The log's NATS servers do not answer: look at them.", { cause });
}
