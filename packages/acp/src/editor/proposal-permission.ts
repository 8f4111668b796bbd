import {
  methods,
  type PermissionOption,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import type { Review } from "@gennai/client/review/review";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { HunkDecision } from "@gennai/protocol/apply-review";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { EditorPeer } from "./acp-editor.ts";
import { unlessWithdrawn } from "./withdrawn-request.ts";

/** Answers for an editor without its own review: all of a proposal, or nothing. Other clients decide by hunk. */
const proposalOptions: readonly PermissionOption[] = [
  { optionId: "keep", name: "Keep all changes", kind: "allow_once" },
  { optionId: "undo", name: "Keep none", kind: "reject_once" },
];

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
  const review = proposalReview(proposal, outcome);
  if (review === undefined) return "The proposal stays open. Nothing was written.";
  const expectedBases = new Map(proposal.changes.map(({ path, baseSha256 }) => [path, baseSha256]));
  const apply = () => session.applyProposal({ ...review, expectedBases }, { signal });
  const { files: written } = await session.whileAttached(apply, { signal });
  if (written.length === 0) return "Nothing was written.";
  return spelledOut(`Written: ${written.map(({ path }) => path).join(", ")}`);
}

/** The decisions that a choice means; undefined: the person decides later, or elsewhere. */
function proposalReview(proposal: Proposal, outcome: RequestPermissionOutcome): Review | undefined {
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
