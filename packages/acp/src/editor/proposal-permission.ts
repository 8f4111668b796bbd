import { methods, type PermissionOption, type RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { newReview, reviewToApply } from "@gennai/client/host/review-state";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { EditorPeer } from "./acp-editor.ts";
import { unlessWithdrawn } from "./withdrawn-request.ts";

/** Answers for an editor without its own review: all of a proposal, or nothing. Other clients decide by hunk. */
const proposalOptions = [
  { optionId: "keep", name: "Keep all changes", kind: "allow_once" },
  { optionId: "undo", name: "Keep none", kind: "reject_once" },
] as const satisfies readonly PermissionOption[];

/** Asks the editor's user, and carries out what is said. @param asking aborts the question, and no more @returns what to tell them */
export async function decideProposal(
  proposal: Proposal,
  {
    session,
    editor,
    signal,
  }: { readonly session: AgentSession; readonly editor: EditorPeer; readonly signal: AbortSignal },
  asking: AbortSignal,
): Promise<string> {
  const files = proposal.changes.map(({ path }) => spelledOut(path)).join(", ");
  const question: RequestPermissionRequest = {
    sessionId: session.sessionId,
    toolCall: { toolCallId: proposal.toolCallId, title: `Write the proposed changes: ${files}` },
    options: [...proposalOptions],
  };
  const { outcome } = await unlessWithdrawn(
    editor.request(methods.client.session.requestPermission, question, { cancellationSignal: asking }),
    asking,
  );
  const decision =
    outcome.outcome === "selected" ? proposalOptions.find(({ optionId }) => optionId === outcome.optionId) : undefined;
  if (decision === undefined) return "The proposal stays open. Nothing was written.";
  const { proposalId, changes } = proposal;
  const review = reviewToApply(newReview(proposalId), proposal, session.sessionId, decision.optionId);
  const apply = () => session.applyProposal({ ...review, changes }, { signal });
  const { files: written } = await session.whileAttached(apply, { signal });
  if (written.length === 0) return "Nothing was written.";
  return spelledOut(`Written: ${written.map(({ path }) => path).join(", ")}`);
}
