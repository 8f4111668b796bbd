/** Something that may be done so many times a second, and as often or more at once after a pause. */
export class Allowance {
  readonly #perSecond: number;
  readonly #most: number;
  readonly #now: () => number;
  #left: number;
  #refilled: number;

  /**
   * @param now monotonic; milliseconds
   * @param most at once; as many as in a second unless given
   */
  constructor(perSecond: number, now: () => number, most: number = perSecond) {
    this.#perSecond = perSecond;
    this.#most = most;
    this.#now = now;
    this.#left = most;
    this.#refilled = now();
  }

  /** False when it was done too often. */
  take(): boolean {
    const time = this.#now();
    this.#left = Math.min(this.#most, this.#left + ((time - this.#refilled) * this.#perSecond) / 1000);
    this.#refilled = time;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
