import type { HunkDecision } from "@gennai/protocol/apply-review";
import { HunkDecision as DecisionMessage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { DecidedHunk } from "@gennai/protocol/whole-moves";

/** A user's decisions about a proposal. */
export interface Review {
  readonly proposalId: string;
  readonly hunks: readonly DecidedHunk[];
  /** For the model: why, and what instead. */
  readonly note: string;
}

/** The fields of a `ReviewedHunk` message. */
export function reviewedHunkFields({ changeId, hunkId, decision }: DecidedHunk) {
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
