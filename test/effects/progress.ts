/** Says now and then how far it is: a run takes up to hours. */
export class Progress {
  readonly #count: number;
  readonly #begun = performance.now();
  #done = 0;
  #said = performance.now();

  constructor(count: number) {
    this.#count = count;
  }

  next(): void {
    this.#done += 1;
    const now = performance.now();
    if (now - this.#said < 10_000) return;
    this.#said = now;
    process.stderr.write(`${this.#done} of ${this.#count} after ${Math.round((now - this.#begun) / 1000)} s\n`);
  }
}
