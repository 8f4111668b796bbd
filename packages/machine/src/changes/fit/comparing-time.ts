/** Milliseconds for one comparison, and for all of one call. */
const mostForOne = 250;
const mostForAll = 500;

/** What comparing texts may take in all, for a call that compares often: what is left when it is used up is compared coarsely. */
export class ComparingTime {
  #leftMs = mostForAll;

  /** @param compare gets the milliseconds that it has */
  spend<Result>(compare: (timeoutMs: number) => Result): Result {
    const began = performance.now();
    try {
      return compare(Math.max(0, Math.min(mostForOne, this.#leftMs)));
    } finally {
      this.#leftMs -= performance.now() - began;
    }
  }
}
