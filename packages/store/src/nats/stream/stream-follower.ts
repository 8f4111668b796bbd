import { setTimeout as delay } from "node:timers/promises";
import { type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { StoreError } from "../../database/store-error.ts";
import type { StreamAccess } from "./create-once.ts";
import { logUnavailable } from "./log-unavailable.ts";

/** Messages that are taken together. */
const group = 256;
/** Milliseconds without a message that is known to exist, after which another consumer is created. */
const stallMs = 1_500;
const timeoutMs = 30_000;
/** Milliseconds between looks whether the stream has more than what came: a consumer can go silent with its node. */
const watchMs = 2_000;

export interface FollowerOptions {
  /** Position of the last message taken before; 0 for none. */
  readonly position: () => number;
  /** Takes messages in order; when it rejects, following ends for good. */
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
  #failure: unknown;

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

  /** Resolves when everything that was in the stream when this was called is taken. Rejects with `StoreError`. */
  async caughtUp(): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (let attempt = 0; ; attempt++) {
      this.#assertFollowing();
      try {
        // Answered by the stream's leader, which knows every message that was acknowledged.
        const { state } = await this.#access.manager.streams.info(this.#access.stream);
        await this.reached(state.last_seq, deadline);
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
      if (now > deadline) throw logUnavailable(undefined);
    }
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
    if (this.#failure instanceof StoreError && this.#failure.code === "newer_format") throw this.#failure;
    if (this.#failure !== undefined) {
      throw new StoreError("corrupt", "This replica cannot follow the log any more; its own log says why.", {
        cause: this.#failure,
      });
    }
    if (this.#closed) throw new StoreError("closed", "The store is closed: open it again to use it.");
  }

  async #follow(): Promise<void> {
    while (!this.#closed && this.#failure === undefined) {
      try {
        await this.#taking;
        this.#queue = [];
        const consumer = await this.#access.client.consumers.get(this.#access.stream, {
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: this.#options.position() + 1,
          inactive_threshold: 30_000,
        });
        this.#messages = await consumer.consume({ max_messages: 2_000, idle_heartbeat: 1_000 });
        if (this.#closed) this.#messages.stop();
        for await (const message of this.#messages) {
          this.#queue.push(message);
          this.#taking ??= this.#takeQueued();
          if (this.#failure !== undefined) return;
          // Waits, so that the queue does not grow without limit.
          if (this.#queue.length > 8 * group) await this.#taking;
        }
      } catch {
        // The connection recovers by itself; a consumer is then created again.
      }
      if (!this.#closed) await delay(100);
    }
  }

  async #takeQueued(): Promise<void> {
    // Takes messages of the same packet together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      while (this.#queue.length > 0) {
        const first = this.#options.position();
        const messages = this.#queue.splice(0, group).filter((message) => message.seq > first);
        await this.#options.take(messages);
        this.#wake();
      }
    } catch (error) {
      this.#failure = error;
      this.#messages?.stop();
      this.#wake();
      if (!this.#closed) this.#options.onFailure(error);
    } finally {
      this.#taking = undefined;
    }
  }

  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, 500);
    this.#waiters.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiters.delete(resolve);
  }

  #wake(): void {
    for (const waiter of this.#waiters) waiter();
  }
}
