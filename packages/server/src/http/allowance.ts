/** Something that may be done so many times a second, and as often at once after a pause. */
export class Allowance {
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #refilled: number;

  /** @param now monotonic; milliseconds */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = perSecond;
    this.#refilled = now();
  }

  /** False when it was done too often. */
  take(): boolean {
    const time = this.#now();
    this.#left = Math.min(this.#perSecond, this.#left + ((time - this.#refilled) * this.#perSecond) / 1000);
    this.#refilled = time;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
