/** Milliseconds over which requests are gathered. */
const gatherMilliseconds = 50;

/** Work that many ask for at once: it is done one time after the other, and once more for all that asked meanwhile. */
export class GatheredWork {
  readonly #work: () => Promise<void>;
  #running: { again: boolean } | undefined;

  /** @param work what it rejects with is not told: the next request tries again */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when what was asked for until then is done. Never rejects. */
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
