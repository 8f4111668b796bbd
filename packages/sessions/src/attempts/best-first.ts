import type { Attempt, Attempts } from "./attempt.ts";
import { haveEnded } from "./attempt.ts";

/**
 * Attempts, the best one first: those whose check passed before those whose did not, among them those that came to an end and changed
 * something; then fewer changed lines, then the earlier one.
 */
export function bestFirst(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.toSorted(
    (one, other) => rank(one) - rank(other) || changedLines(one) - changedLines(other) || one.number - other.number,
  );
}

/** The number of the one to suggest, once all have ended; undefined: none of them is worth it. */
export function suggested(all: Attempts): number | undefined {
  const [best] = haveEnded(all) ? bestFirst(all.attempts) : [];
  return best !== undefined && isUsable(best) ? best.number : undefined;
}

function changedLines({ addedLines, removedLines }: Attempt): number {
  return addedLines + removedLines;
}

/** Whether it can be kept at all: it came to its end, and changed something. */
export function isUsable({ outcome, changes }: Pick<Attempt, "outcome" | "changes">): boolean {
  return outcome === "completed" && changes.length > 0;
}

function rank(attempt: Attempt): number {
  if (!isUsable(attempt)) return 2;
  return attempt.check === "passed" ? 0 : 1;
}
