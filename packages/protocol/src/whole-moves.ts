import { type HunkDecision, wholeChange } from "./apply-review.ts";
import type { ProposedChange } from "./model/session/proposal.ts";

type Part = Pick<ProposedChange, "id" | "path" | "operation" | "movedFrom">;

/** The other half of a move: what is deleted at the old path, or made at the new one. */
export function otherHalf<Change extends Part>(change: Part, changes: readonly Change[]): Change | undefined {
  return change.operation === "delete"
    ? changes.find(({ movedFrom }) => movedFrom === change.path)
    : changes.find(({ operation, path }) => operation === "delete" && path === change.movedFrom);
}

/**
 * Decisions by change and hunk, with every move as one: the old path goes exactly if something is kept at the new one. Otherwise
 * a content could be nowhere, or in two places.
 */
export function wholeMoves(
  changes: readonly Part[],
  decisions: ReadonlyMap<string, ReadonlyMap<string, HunkDecision>>,
): ReadonlyMap<string, ReadonlyMap<string, HunkDecision>> {
  const whole = new Map(decisions);
  for (const change of changes) {
    const made = change.operation === "delete" ? otherHalf(change, changes) : undefined;
    if (made === undefined) continue;
    const isKept = [...(decisions.get(made.id)?.values() ?? [])].some(({ type }) => type !== "undo");
    whole.set(change.id, new Map([[wholeChange, { type: isKept ? "keep" : "undo" }]]));
  }
  return whole;
}
