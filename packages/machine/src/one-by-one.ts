import pLimit, { type LimitFunction } from "p-limit";

/** Work for one key goes one after the other, in the order in which it was asked for, whatever fails; for different keys at once. */
export class OneByOne<Key> {
  /** Of keys that have work. */
  readonly #lines = new Map<Key, LimitFunction>();

  /** Resolves and rejects as the work does. */
  async run<Value>(key: Key, work: () => Promise<Value>): Promise<Value> {
    const line = this.#lines.get(key) ?? pLimit(1);
    this.#lines.set(key, line);
    try {
      return await line(work);
    } finally {
      if (line.activeCount + line.pendingCount === 0) this.#lines.delete(key);
    }
  }

  /** Keys that have work. */
  get size(): number {
    return this.#lines.size;
  }
}
