/** Milliseconds for one comparison, and for all of one call. */
const mostForOne = 250;
const mostForAll = 500;

/** The time that all comparisons of one call may take together. When it is used up, texts are compared only coarsely. */
export class ComparingTime {
  #leftMs = mostForAll;

  /** @param compare gets the milliseconds that it may take */
  spend<Result>(compare: (timeoutMs: number) => Result): Result {
    const began = performance.now();
    try {
      return compare(Math.max(0, Math.min(mostForOne, this.#leftMs)));
    } finally {
      this.#leftMs -= performance.now() - began;
    }
  }
}
