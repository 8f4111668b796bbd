import { ConnectError } from "@connectrpc/connect";
import type { ReplHost, ReviewToApply } from "@gennai/client/host/repl-host";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { errorMessage } from "@gennai/protocol/error-message";
import { isBeyondText, type Proposal } from "@gennai/protocol/model/session/proposal";
import type { ReviewOutcome } from "./review-outcome.tsx";

/** Who carries a review out: the host, or, when it cannot, the server. */
export interface ProposalAppliers {
  readonly host: Pick<ReplHost, "applyProposal">;
  readonly session: Pick<AgentSession, "applyProposal">;
}

/** Carries a review out. Never rejects: what goes wrong is a refusal that says why. */
export async function applyProposal(
  { host, session }: ProposalAppliers,
  review: ReviewToApply,
  proposal: Proposal,
  options: { readonly signal: AbortSignal },
): Promise<ReviewOutcome> {
  const keepsNothing = review.hunks.every(({ decision }) => decision.type === "undo");
  try {
    if (host.applyProposal !== undefined && !needsServer(review, proposal)) {
      const { files } = await host.applyProposal(review);
      if (files.length === 0 && keepsNothing) return { type: "nothing-kept" };
      // The change set's id comes with its event.
      return { type: "applied", files, changeSetId: undefined };
    }
    const expectedBases = new Map(proposal.changes.map(({ path, baseSha256 }) => [path, baseSha256]));
    const { files, changeSetId } = await session.applyProposal({ ...review, expectedBases }, options);
    if (changeSetId === "") return { type: "nothing-kept" };
    return { type: "applied", files: files.map(({ path }) => path), changeSetId };
  } catch (error) {
    const reason = error instanceof ConnectError ? error.rawMessage : errorMessage(error);
    return { type: "refused", reason, changedFiles: filesNamedIn(reason, proposal) };
  }
}

/** No editor writes permission bits, and what is not text. */
function needsServer({ hunks }: ReviewToApply, { changes }: Proposal): boolean {
  const kept = new Set(hunks.filter(({ decision }) => decision.type !== "undo").map(({ changeId }) => changeId));
  return changes.some((change) => kept.has(change.id) && isBeyondText(change));
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
