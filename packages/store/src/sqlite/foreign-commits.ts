import type { StoreDatabase } from "../database/database.ts";

/** Milliseconds between looks. */
const pollInterval = 200;

/** Reports commits of other connections, also in other processes. */
export class ForeignCommits {
  readonly #database: StoreDatabase;
  readonly #onCommit: () => void;
  #poller: NodeJS.Timeout | undefined;
  #seenVersion = 0;

  /** @param onCommit also called if watching fails: whoever reads then finds the cause */
  constructor(database: StoreDatabase, onCommit: () => void) {
    this.#database = database;
    this.#onCommit = onCommit;
  }

  /** Starts watching; repeated calls have no effect. */
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
