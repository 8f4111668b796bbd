import type { Attempt, AttemptSet } from "@gennai/protocol/model/session/attempt";

/** An attempt that has not started. */
export function waitingAttempt(number: number): Attempt {
  return {
    number,
    phase: "waiting",
    sessionId: "",
    outcome: undefined,
    check: "not_run",
    checkOutput: "",
    text: "",
    addedLines: 0,
    removedLines: 0,
    tokens: 0,
    cost: undefined,
    changes: [],
  };
}

/** The set with these attempts; when all have ended, they are ordered, and one may be suggested. */
export function withAttempts(set: AttemptSet, attempts: readonly Attempt[]): AttemptSet {
  if (attempts.some(({ phase }) => phase !== "ended"))
    return { ...set, attempts, isRunning: true, suggested: undefined };
  const [best, ...others] = bestFirst(attempts);
  const suggested = best !== undefined && isUsable(best) ? best.number : undefined;
  return { ...set, attempts: best === undefined ? [] : [best, ...others], isRunning: false, suggested };
}

/** Whether the attempt can be kept: it completed and changed something. */
export function isUsable({ outcome, changes }: Pick<Attempt, "outcome" | "changes">): boolean {
  return outcome === "completed" && changes.length > 0;
}

/** Check passed, then completed with changes, then fewer changed lines, then the earlier one. */
function bestFirst(attempts: readonly Attempt[]): readonly Attempt[] {
  const lines = ({ addedLines, removedLines }: Attempt) => addedLines + removedLines;
  return attempts.toSorted(
    (one, other) => rank(one) - rank(other) || lines(one) - lines(other) || one.number - other.number,
  );
}

function rank(attempt: Attempt): number {
  if (!isUsable(attempt)) return 2;
  return attempt.check === "passed" ? 0 : 1;
}
