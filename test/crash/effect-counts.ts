import assert from "node:assert/strict";

/**
 * Counts how often each activity of a crash or load test really had its effect: a file's bytes changed, a command's line was
 * written, a review was stored. Otherwise an activity that is always refused would test nothing.
 */
export class EffectCounts {
  readonly #counts = new Map<string, number>();
  readonly #wanted = new Map<string, number>();

  /** @param count of effects that were looked for in the world and found, 0 or more */
  add(activity: string, count: number): void {
    this.#counts.set(activity, (this.#counts.get(activity) ?? 0) + count);
  }

  /** Raises the least number of effects without which the test fails. */
  want(activity: string, count = 1): void {
    this.#wanted.set(activity, (this.#wanted.get(activity) ?? 0) + count);
  }

  /** Throws `AssertionError` and names each activity with fewer effects than were wanted, or when nothing was wanted at all. */
  expectAll(): void {
    assert.ok(this.#wanted.size > 0, "No activity is said to have an effect.");
    const missing = [...this.#wanted].flatMap(([activity, least]) => {
      const count = this.#counts.get(activity) ?? 0;
      return count < least ? [`${activity}: ${count} effects, at least ${least} must be`] : [];
    });
    assert.deepEqual(missing, []);
  }
}
