import type { ProposalReview } from "@gennai/agent/events/proposal";
import type { ProposalReview as WireReview } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { hunkDecisionWords } from "@gennai/protocol/model/session/proposal";

export function reviewToWire(review: ProposalReview) {
  return {
    proposalId: review.proposalId,
    note: review.note,
    hunks: review.hunks.map((hunk) => ({ ...hunk, decision: hunkDecisionWords.toMessage(hunk.decision) })),
  };
}

export function reviewFromWire(review: WireReview): ProposalReview {
  return {
    proposalId: review.proposalId,
    note: review.note,
    hunks: review.hunks.map(({ changeId, hunkId, decision, editedText, note }) => ({
      changeId,
      hunkId,
      decision: hunkDecisionWords.checkedFromMessage(decision, "hunks[].decision"),
      editedText,
      note,
    })),
  };
}
