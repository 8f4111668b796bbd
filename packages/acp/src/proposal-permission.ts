import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import type { Review } from "@gennai/client/review/review";
import type { Proposal } from "@gennai/protocol/model/proposal";
import type { HunkDecision } from "@gennai/protocol/review/apply-review";

/** What an editor without a review of its own can say of a proposal: all of it, or nothing. Another client decides by hunk. */
export const proposalOptions: readonly PermissionOption[] = [
  { optionId: "keep", name: "Keep all changes", kind: "allow_once" },
  { optionId: "undo", name: "Keep none", kind: "reject_once" },
];

/** The decisions that a choice means; undefined: the person decides later, or elsewhere. */
export function proposalReview(proposal: Proposal, outcome: RequestPermissionOutcome): Review | undefined {
  const decision = outcome.outcome === "selected" ? decisions.get(outcome.optionId) : undefined;
  if (decision === undefined) return undefined;
  const hunks = proposal.changes.flatMap(({ id: changeId, hunks: known }) =>
    // A change without hunks is decided as a whole.
    (known.length === 0 ? [{ id: "" }] : known).map(({ id: hunkId }) => ({ changeId, hunkId, decision })),
  );
  return { proposalId: proposal.proposalId, hunks, note: "" };
}

const decisions = new Map<string, HunkDecision>([
  ["keep", { type: "keep" }],
  ["undo", { type: "undo" }],
]);
