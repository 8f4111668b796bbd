import { createHash, randomUUID } from "node:crypto";
import type { SharedLocks } from "@gennai/machine/process/locks/process-lock";
import { encodeLock, lockSubject } from "@gennai/store/nats/log-message";
import type { NatsStore } from "@gennai/store/nats/open-nats-store";
import { createOnce } from "@gennai/store/nats/stream/create-once";
import type { ReplicaPresence } from "./presence.ts";

const attempts = 20;

/** Locks between replicas, as messages of the log: held until released, or until the holder is gone. */
export class ReplicaLocks implements SharedLocks {
  readonly #store: NatsStore;
  readonly #presence: ReplicaPresence;
  readonly #onError: (error: unknown) => void;

  constructor(store: NatsStore, presence: ReplicaPresence, onError: (error: unknown) => void) {
    this.#store = store;
    this.#presence = presence;
    this.#onError = onError;
  }

  /** The caller prevents concurrent requests of this process for the same name. */
  async tryAcquire(name: string, what: string): ReturnType<SharedLocks["tryAcquire"]> {
    const { copy, follower } = this.#store;
    const { replicaId } = this.#presence;
    const digest = digestOf(name);
    for (let attempt = 0; attempt < attempts; attempt++) {
      await follower.caughtUp();
      const now = copy.lock(digest);
      const isHeld = now !== undefined && now.replica !== "" && now.replica !== replicaId;
      if (isHeld && (await this.#presence.isAlive(now.replica))) {
        return { type: "held", by: `${now.what}, at server ${now.replica}` };
      }
      const number = (now?.number ?? 0) + 1;
      if (!(await this.#write(digest, number, replicaId, what))) continue;
      const release = (): void => {
        this.#write(digest, number + 1, "", "").catch(this.#onError);
      };
      return { type: "acquired", lock: { [Symbol.dispose]: release } };
    }
    return { type: "held", by: "other servers, one after the other" };
  }

  async released(name: string, signal: AbortSignal): Promise<void> {
    const { copy, follower } = this.#store;
    const digest = digestOf(name);
    const before = copy.lock(digest);
    if (before === undefined || before.replica === "" || before.replica === this.#presence.replicaId) return;
    // One that is gone gives nothing back.
    while (copy.lock(digest)?.number === before.number && (await this.#presence.isAlive(before.replica))) {
      await follower.moved(signal);
    }
  }

  async #write(digest: string, number: number, replica: string, what: string): Promise<boolean> {
    const { streams, follower, copy } = this.#store;
    const subject = lockSubject(streams.namespace, digest, number);
    const message = { id: `${subject}.${randomUUID()}`, payload: encodeLock({ replica, what }) };
    const creation = await createOnce(streams.log, subject, message);
    if (creation.type === "taken") return false;
    await follower.reached(creation.position);
    return copy.lock(digest)?.position === creation.position;
  }
}

function digestOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}
