/** Aborts when nothing was heard for too long. */
export class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #limit: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param limit milliseconds */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something was heard. */
  sign(): void {
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#controller.abort(), this.#limit);
    else this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
