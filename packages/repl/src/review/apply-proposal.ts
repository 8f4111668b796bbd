import { ConnectError } from "@connectrpc/connect";
import type { AgentClient } from "@gennai/client/connection/connection";
import type { ReplHome, ReviewToApply } from "@gennai/client/home/repl-home";
import type { Proposal } from "@gennai/client/review/proposal";
import { HunkDecision as DecisionMessage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { HunkDecision } from "@gennai/protocol/review/apply-review";
import type { ReviewOutcome } from "./review-outcome.tsx";

/** Where a review is carried out: by the home, or, when it cannot, by the server. */
export interface ReviewPlace {
  readonly home: Pick<ReplHome, "applyReview">;
  readonly client: Pick<AgentClient, "applyProposal">;
}

/** Carries a review out. Never rejects: what goes wrong is a refusal that says why. */
export async function applyProposal(
  { home, client }: ReviewPlace,
  review: ReviewToApply,
  proposal: Proposal,
  options: { readonly signal: AbortSignal },
): Promise<ReviewOutcome> {
  const keepsNothing = review.hunks.every(({ decision }) => decision.type === "undo");
  try {
    if (home.applyReview !== undefined) {
      const { files } = await home.applyReview(review);
      if (files.length === 0 && keepsNothing) return { type: "nothing-kept" };
      // The change set's id comes with its event.
      return { type: "applied", files, changeSetId: undefined };
    }
    const { files, changeSetId } = await client.applyProposal(
      {
        sessionId: review.sessionId,
        proposalId: review.proposalId,
        hunks: review.hunks.map(({ changeId, hunkId, decision }) => ({
          changeId,
          hunkId,
          decision: decisionMessages[decision.type],
          editedText: decision.type === "edited" ? decision.text : "",
          note: decision.note ?? "",
        })),
        note: review.note,
        expectedBases: proposal.changes.map(({ path, baseSha256 }) => ({ path, sha256: baseSha256 })),
      },
      options,
    );
    if (changeSetId === "") return { type: "nothing-kept" };
    return { type: "applied", files: files.map(({ path }) => path), changeSetId };
  } catch (error) {
    const reason =
      error instanceof ConnectError ? error.rawMessage : error instanceof Error ? error.message : String(error);
    return { type: "refused", reason, changedFiles: filesNamedIn(reason, proposal) };
  }
}

/** The proposal's files that a message names as words of their own. */
export function filesNamedIn(message: string, proposal: Pick<Proposal, "changes">): readonly string[] {
  const part = /[\p{L}\p{N}_/\\-]/u;
  return proposal.changes
    .map(({ path }) => path)
    .filter((path) => {
      for (let at = message.indexOf(path); at >= 0; at = message.indexOf(path, at + 1)) {
        const before = message.charAt(at - 1);
        const after = message.slice(at + path.length);
        // A full stop ends a sentence, unless it goes on with a suffix.
        if (!part.test(before) && !/^(?:[\p{L}\p{N}_/\\-]|\.[\p{L}\p{N}])/u.test(after)) return true;
      }
      return false;
    });
}

const decisionMessages: Record<HunkDecision["type"], DecisionMessage> = {
  keep: DecisionMessage.KEEP,
  undo: DecisionMessage.UNDO,
  edited: DecisionMessage.EDITED,
};
