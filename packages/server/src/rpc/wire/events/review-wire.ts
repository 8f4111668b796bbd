import type { ProposalReview } from "@gennai/agent/events/proposal";
import { HunkDecision, type ProposalReview as WireReview } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { EnumWords } from "@gennai/protocol/model/enum-words";

const decisions = new EnumWords({
  keep: HunkDecision.KEEP,
  undo: HunkDecision.UNDO,
  edited: HunkDecision.EDITED,
});

export function reviewToWire(review: ProposalReview) {
  return {
    proposalId: review.proposalId,
    note: review.note,
    hunks: review.hunks.map((hunk) => ({ ...hunk, decision: decisions.toMessage(hunk.decision) })),
  };
}

export function reviewFromWire(review: WireReview): ProposalReview {
  return {
    proposalId: review.proposalId,
    note: review.note,
    hunks: review.hunks.map(({ changeId, hunkId, decision, editedText, note }) => ({
      changeId,
      hunkId,
      decision: decisions.checkedFromMessage(decision, "hunks[].decision"),
      editedText,
      note,
    })),
  };
}
