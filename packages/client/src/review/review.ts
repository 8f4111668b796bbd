import type { HunkDecision } from "@gennai/protocol/apply-review";
import { HunkDecision as DecisionMessage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** A user's decisions about a proposal. */
export interface Review {
  readonly proposalId: string;
  readonly hunks: readonly ReviewedHunk[];
  /** For the model: why, and what instead. */
  readonly note: string;
}

/** One decision of a review, with its place. */
export interface ReviewedHunk {
  readonly changeId: string;
  /** Empty: the decision is about the whole change. */
  readonly hunkId: string;
  readonly decision: HunkDecision;
}

/** The fields of a `ReviewedHunk` message. */
export function reviewedHunkFields({ changeId, hunkId, decision }: ReviewedHunk) {
  return {
    changeId,
    hunkId,
    decision: decisionMessages[decision.type],
    editedText: decision.type === "edited" ? decision.text : "",
    note: decision.note ?? "",
  };
}

const decisionMessages: Record<HunkDecision["type"], DecisionMessage> = {
  keep: DecisionMessage.KEEP,
  undo: DecisionMessage.UNDO,
  edited: DecisionMessage.EDITED,
};
