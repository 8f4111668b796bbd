import type { StoreDatabase } from "../database/database.ts";

interface Waiting {
  readonly durable: boolean;
  readonly body: () => void;
  readonly fail: (error: unknown) => void;
  readonly committed: () => void;
}

/**
 * What many sessions write in one turn of the event loop goes into one transaction: the pages that all of them change are
 * written once. Who needs it on disk waits for one sync for all, while others go on.
 */
export class SharedTransactions {
  readonly #database: StoreDatabase;
  #waiting: Waiting[] = [];
  #next: NodeJS.Immediate | undefined;

  constructor(database: StoreDatabase) {
    this.#database = database;
  }

  /**
   * Like a separate transaction. Resolves when it is committed, and, if durable, on disk; rejects if nothing of it was done, or a
   * durable one did not come to the disk, whatever happens to the others. `body` may run twice: the second time after the first was
   * rolled back.
   */
  run<Result>({ durable }: { readonly durable: boolean }, body: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let committed: () => void = () => undefined;
    this.#waiting.push({
      durable,
      body: () => {
        const result = body();
        committed = () => resolve(result);
      },
      fail: reject,
      committed: () => committed(),
    });
    this.#next ??= setImmediate(() => this.runAll());
    return promise;
  }

  /** Runs what waits, in front of what is done next. */
  runAll(): void {
    const waiting = this.#waiting;
    clearImmediate(this.#next);
    this.#waiting = [];
    this.#next = undefined;
    if (waiting.length > 0) this.#commit(waiting);
  }

  #commit(all: readonly Waiting[]): void {
    const durable = all.some((each) => each.durable);
    try {
      this.#database.transaction({ durable: false, counted: durable }, () => {
        for (const { body } of all) body();
      });
    } catch (error) {
      // If one of them fails, only that one must fail.
      if (all.length === 1) all[0]?.fail(error);
      else for (const each of all) this.#commit([each]);
      return;
    }
    const onDisk = durable ? this.#database.sync() : undefined;
    for (const { durable: waits, committed, fail } of all) {
      if (waits) onDisk?.then(committed, fail);
      else committed();
    }
  }
}
