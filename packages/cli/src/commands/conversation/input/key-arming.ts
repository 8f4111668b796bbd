import { armingMilliseconds } from "@gennai/client/questions/arming";

/**
 * Decides whether a key in a terminal, where there is no focus, answers a question: only if the question was shown long enough, and
 * no other key came for as long. So what somebody was typing goes on into their draft, whatever appears meanwhile.
 */
export class KeyArming {
  readonly #shownAt: number;
  #lastKeyAt: number;

  /** @param shownAt milliseconds, as all times here @param lastKeyAt when a key came last, whatever it was for */
  constructor(shownAt: number, lastKeyAt: number) {
    this.#shownAt = shownAt;
    this.#lastKeyAt = lastKeyAt;
  }

  /** A key or a paste came that is no answer. */
  typed(now: number): void {
    this.#lastKeyAt = now;
  }

  /** Milliseconds until a key may answer; 0: it may. */
  left(now: number): number {
    return Math.max(0, Math.max(this.#shownAt, this.#lastKeyAt) + armingMilliseconds - now);
  }
}
