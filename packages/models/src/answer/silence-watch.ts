/** Looks within the limit; between two, all that had arrived was heard. */
const looks = 10;

/**
 * Aborts when nothing was heard for too long. What arrives while this process is held up waits to be heard: so long a pause
 * counts as one look, however long it was.
 */
export class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #limit: number;
  #timer: NodeJS.Timeout | undefined;
  #looked = 0;

  /** @param limit milliseconds */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something was heard. */
  sign(): void {
    this.#looked = 0;
    if (this.#timer === undefined) this.#timer = setInterval(() => this.#look(), this.#limit / looks);
    else this.#timer.refresh();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    this.#looked += 1;
    if (this.#looked < looks) return;
    this.stop();
    this.#controller.abort();
  }
}
