import { hunkDecisionWords } from "@gennai/protocol/model/session/proposal";
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
    decision: hunkDecisionWords.toMessage(decision.type),
    editedText: decision.type === "edited" ? decision.text : "",
    note: decision.note ?? "",
  };
}
