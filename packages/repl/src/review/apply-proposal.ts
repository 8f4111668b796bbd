import { ConnectError } from "@connectrpc/connect";
import type { CallOptions } from "@gennai/client/connection/connection";
import type { ReviewToApply } from "@gennai/client/host/window-requests";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { errorMessage } from "@gennai/protocol/error-message";
import { isBeyondText, type Proposal } from "@gennai/protocol/model/session/proposal";
import type { ReplHost } from "../hosts/repl-host.ts";
import type { ReviewOutcome } from "./review-outcome.tsx";

/** What carries out a review: the host or, if that cannot, the server. */
export interface ProposalAppliers {
  readonly host: Pick<ReplHost, "applyProposal">;
  readonly session: Pick<AgentSession, "applyProposal">;
}

/** Carries a review out. Never rejects: an error becomes a refusal with a reason. */
export async function applyProposal(
  { host, session }: ProposalAppliers,
  review: ReviewToApply,
  proposal: Proposal,
  options: CallOptions,
): Promise<ReviewOutcome> {
  const keepsNothing = review.hunks.every(({ decision }) => decision.type === "undo");
  try {
    if (host.applyProposal !== undefined && !needsServer(review, proposal)) {
      const { files } = await host.applyProposal(review);
      if (files.length === 0 && keepsNothing) return { type: "nothing-kept" };
      // The event brings the id of the change set.
      return { type: "applied", files, changeSetId: undefined };
    }
    const { files, changeSetId } = await session.applyProposal({ ...review, changes: proposal.changes }, options);
    if (changeSetId === "") return { type: "nothing-kept" };
    return { type: "applied", files: files.map(({ path }) => path), changeSetId };
  } catch (error) {
    const reason = error instanceof ConnectError ? error.rawMessage : errorMessage(error);
    return { type: "refused", reason, changedFiles: filesNamedIn(reason, proposal) };
  }
}

/** True for permission bits, and for content that is not text: no editor writes these. */
function needsServer({ hunks }: ReviewToApply, { changes }: Proposal): boolean {
  const kept = new Set(hunks.filter(({ decision }) => decision.type !== "undo").map(({ changeId }) => changeId));
  return changes.some((change) => kept.has(change.id) && isBeyondText(change));
}

/** The proposal's files that a message names as separate words. */
export function filesNamedIn(message: string, proposal: Pick<Proposal, "changes">): readonly string[] {
  const part = /[\p{L}\p{N}_/\\-]/u;
  return proposal.changes
    .map(({ path }) => path)
    .filter((path) => {
      for (let at = message.indexOf(path); at >= 0; at = message.indexOf(path, at + 1)) {
        const before = message.charAt(at - 1);
        const after = message.slice(at + path.length);
        // A full stop ends the name, unless a suffix follows.
        if (!part.test(before) && !/^(?:[\p{L}\p{N}_/\\-]|\.[\p{L}\p{N}])/u.test(after)) return true;
      }
      return false;
    });
}
