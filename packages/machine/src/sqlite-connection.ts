import { DatabaseSync, type StatementSync } from "node:sqlite";

export interface ConnectionOptions {
  /** Milliseconds to wait for another process's lock. */
  readonly timeout: number;
  readonly readOnly?: boolean;
}

/**
 * A connection to a database file, by no more of `node:sqlite` than Node 22.13 has: there a `DatabaseSync` takes no time-out, does
 * not tell whether it is open or in a transaction, and cannot be disposed. Opening throws SQLite's errors.
 */
export class SqliteConnection implements Disposable {
  readonly #database: DatabaseSync;
  #isOpen = true;

  constructor(file: string, { timeout, readOnly = false }: ConnectionOptions) {
    this.#database = new DatabaseSync(file, { readOnly, enableForeignKeyConstraints: false });
    this.exec(`PRAGMA busy_timeout = ${timeout}`);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Again: nothing. */
  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#database.close();
  }
}
