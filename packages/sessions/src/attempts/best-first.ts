import type { Attempt, Attempts } from "./attempt.ts";
import { haveEnded } from "./attempt.ts";

/** The attempts, best first: check passed, then completed with changes, then fewer changed lines, then the earlier one. */
export function bestFirst(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.toSorted(
    (one, other) => rank(one) - rank(other) || changedLines(one) - changedLines(other) || one.number - other.number,
  );
}

/** Number of the attempt to suggest when all have ended; undefined if none is good enough. */
export function suggested(all: Attempts): number | undefined {
  const [best] = haveEnded(all) ? bestFirst(all.attempts) : [];
  return best !== undefined && isUsable(best) ? best.number : undefined;
}

function changedLines({ addedLines, removedLines }: Attempt): number {
  return addedLines + removedLines;
}

/** Whether the attempt can be kept: it completed and changed something. */
export function isUsable({ outcome, changes }: Pick<Attempt, "outcome" | "changes">): boolean {
  return outcome === "completed" && changes.length > 0;
}

function rank(attempt: Attempt): number {
  if (!isUsable(attempt)) return 2;
  return attempt.check === "passed" ? 0 : 1;
}
