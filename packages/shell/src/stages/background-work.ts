/**
 * Work that nothing waits for and that may fail: the next command repeats it and reports the error. Disposing waits for all of
 * it.
 */
export class BackgroundWork implements AsyncDisposable {
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  get hasEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** @param work gets the signal that disposing aborts; not started after disposing */
  begin(work: (signal: AbortSignal) => Promise<void>): void {
    if (!this.hasEnded) void this.add(work(this.#ending.signal));
  }

  /** Resolves when the work has succeeded or failed. */
  add(work: Promise<void>): Promise<void> {
    const done = work.catch(() => undefined).finally(() => this.#running.delete(done));
    this.#running.add(done);
    return done;
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.idle();
  }
}
