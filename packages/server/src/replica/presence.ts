import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "@gennai/machine/service-error";
import { type LogStreams, replicaLifetime, replicaOfSubject, replicaSubject } from "@gennai/store/nats/log-streams";

/** Milliseconds between signs of life. */
const beat = 1_000;
/** How much earlier than the others a replica counts itself as gone: clocks run apart, and an effect takes a moment. */
const margin = 3_000;
const attempts = 40;

/**
 * Publishes this replica's heartbeat, and reads those of others. A replica that could not renew its heartbeat in time considers
 * itself gone before others do, and then stops acting.
 */
export class ReplicaPresence implements AsyncDisposable {
  readonly replicaId: string;
  readonly #streams: LogStreams;
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  readonly #watch: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();
  /** By `performance.now`. */
  #confirmedUntil = 0;
  #wasConfirmed = false;

  private constructor(streams: LogStreams, replicaId: string) {
    this.#streams = streams;
    this.replicaId = replicaId;
    this.#watch = setInterval(() => this.#look(), 250);
    this.#watch.unref();
  }

  /** Resolves when others see this replica. Rejects when NATS does not take the sign. */
  static async start(streams: LogStreams, replicaId: string): Promise<ReplicaPresence> {
    const presence = new ReplicaPresence(streams, replicaId);
    for (let attempt = 1; ; attempt++) {
      try {
        await presence.#beat();
        break;
      } catch (error) {
        if (attempt === attempts) throw error;
        await delay(250);
      }
    }
    presence.#running = presence.#keepBeating();
    return presence;
  }

  /** True while no other replica can consider this one gone. */
  get isConfirmed(): boolean {
    return performance.now() < this.#confirmedUntil;
  }

  /** Calls back when it becomes confirmed or stops being so. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Rejects with `ServiceError` `unavailable` when NATS does not say. */
  async isAlive(replicaId: string): Promise<boolean> {
    if (replicaId === this.replicaId) return true;
    return this.#asked(async ({ manager, stream }) => {
      // Read from the leader: another node may have dropped the old heartbeat without having the new one yet.
      const found = await manager.streams.getMessage(stream, { last_by_subj: this.#subject(replicaId) });
      return found !== null && found.data.length > 0;
    });
  }

  /** The other replicas that run. */
  async others(): Promise<readonly string[]> {
    const found = await this.#asked(async ({ manager, stream }) => {
      const { state } = await manager.streams.info(stream, { subjects_filter: this.#subject("*") });
      return Object.keys(state.subjects ?? {}).map(replicaOfSubject);
    });
    const alive = await Promise.all(
      found.filter((id) => id !== this.replicaId).map(async (id) => ((await this.isAlive(id)) ? [id] : [])),
    );
    return alive.flat();
  }

  /** Announces that this replica is gone, so that others need not wait for its heartbeat to expire. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#watch);
    this.#stop.abort();
    await this.#running;
    this.#confirmedUntil = 0;
    this.#look();
    const { client } = this.#streams.replicas;
    await client.publish(this.#subject(this.replicaId), new Uint8Array(), { timeout: 1_000 }).catch(() => undefined);
  }

  async #keepBeating(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await delay(beat, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // Not in time: the next one may be.
      await this.#beat().catch(() => undefined);
    }
  }

  async #beat(): Promise<void> {
    const before = performance.now();
    const payload = new TextEncoder().encode(String(Date.now()));
    await this.#streams.replicas.client.publish(this.#subject(this.replicaId), payload, { timeout: 2_000 });
    this.#confirmedUntil = before + replicaLifetime - margin;
    this.#look();
  }

  #look(): void {
    if (this.isConfirmed === this.#wasConfirmed) return;
    this.#wasConfirmed = this.isConfirmed;
    for (const listener of [...this.#listeners]) listener();
  }

  async #asked<Value>(ask: (access: LogStreams["replicas"]) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(this.#streams.replicas);
      } catch (cause) {
        if (attempt === attempts || this.#stop.signal.aborted) {
          throw new ServiceError("unavailable", "The log's NATS servers do not answer.", { cause });
        }
        await delay(250);
      }
    }
  }

  #subject(replicaId: string): string {
    return replicaSubject(this.#streams.namespace, replicaId);
  }
}
