import type { StoreDatabase } from "../database/database.ts";

/** Milliseconds between looks. */
const pollInterval = 200;

/** Tells what this connection is not told: that another one, also of another process, has committed. */
export class ForeignCommits {
  readonly #database: StoreDatabase;
  readonly #onCommit: () => void;
  #poller: NodeJS.Timeout | undefined;
  #seenVersion = 0;

  /** @param onCommit also called when nobody can say any more: anyone who reads then finds out why */
  constructor(database: StoreDatabase, onCommit: () => void) {
    this.#database = database;
    this.#onCommit = onCommit;
  }

  /** From now on; again and again is the same as once. */
  watch(): void {
    if (this.#poller !== undefined) return;
    this.#seenVersion = this.#database.dataVersion();
    this.#poller = setInterval(() => this.#look(), pollInterval);
  }

  stop(): void {
    clearInterval(this.#poller);
    this.#poller = undefined;
  }

  #look(): void {
    try {
      const version = this.#database.dataVersion();
      if (version === this.#seenVersion) return;
      this.#seenVersion = version;
    } catch {
      // The readers find the same trouble when they read, and get to know.
    }
    this.#onCommit();
  }
}
