/** Milliseconds over which requests are gathered. */
const gatherMilliseconds = 50;

/** Work that many ask for at once: it never runs twice at a time, and runs once more for all requests during a run. */
export class GatheredWork {
  readonly #work: () => Promise<void>;
  #running: { again: boolean } | undefined;

  /** @param work its rejections are ignored: the next request tries again */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when the work is done, or, while it already runs, at once. Never rejects. */
  async ask(): Promise<void> {
    if (this.#running !== undefined) {
      this.#running.again = true;
      return;
    }
    const running = { again: true };
    this.#running = running;
    try {
      while (running.again) {
        running.again = false;
        await new Promise((resolve) => setTimeout(resolve, gatherMilliseconds));
        await this.#work();
      }
    } catch {
      // The next event, or the person, asks again.
    } finally {
      this.#running = undefined;
    }
  }
}
