import { randomUUID } from "node:crypto";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Effect } from "@gennai/governance/effect";
import type { Tool, ToolOutcome } from "@gennai/governance/tool";
import { plural } from "@gennai/protocol/plural";
import type { StagedTree } from "@gennai/shell/proposal/staged-tree";
import type { BlobStore } from "@gennai/store/log/session-log";
import { z } from "zod";
import type { OwnCalls } from "../context/own-calls.ts";
import type { ToolFact } from "../tools/tool-fact.ts";
import type { SessionProposal } from "./session-proposal.ts";
import { operationOf, stagedChanges, textAt } from "./staged-proposal.ts";

/**
 * Proposes everything staged. Called by the server at the end of a turn; the model does not have it.
 * @param staged what is staged in the session
 */
export function proposeStagedTool(
  staged: () => Promise<Pick<SessionProposal, "tree" | "workspace">>,
  blobs: Pick<BlobStore, "put">,
): Tool {
  return {
    name: "ProposeChanges",
    description: "Shows the user all that is staged, for review.",
    parameters: z.strictObject({}),
    access: "read",
    alone: true,

    async analyse() {
      const { tree, workspace } = await staged();
      const effects: Effect[] = [];
      for (const file of tree.files.values()) {
        // The user put something in its place: it is shown, but cannot be kept.
        if (file.conflict === "unreadable") continue;
        const content = file.staged === null ? undefined : textAt(tree, file.staged);
        effects.push({
          type: "propose",
          path: await workspace.resolve(file.path, { isRecorded: true }),
          operation: operationOf(file),
          ...(content === undefined ? {} : { content }),
        });
      }
      return { statement: `Propose what is staged: ${plural(tree.files.size, "file")}`, effects };
    },

    async execute(_args, _analysis, { callId }) {
      return proposedTree((await staged()).tree, callId, blobs);
    },
  };
}

/** Records everything staged as a proposal. */
export async function proposedTree(
  tree: StagedTree,
  toolCallId: string,
  blobs: Pick<BlobStore, "put">,
): Promise<ToolOutcome> {
  const changes = await stagedChanges(tree, blobs);
  const proposalId = randomUUID();
  tree.markProposed(proposalId);
  const hasConflicts = changes.some(({ conflict }) => conflict);
  const proposal = { proposalId, toolCallId, changes, hasConflicts, warnings: [] };
  const fact: ToolFact = { type: "proposal", proposal };
  return { output: `Proposed: ${changes.map(({ path }) => path).join(", ")}.`, facts: [fact] };
}

/** At the end of a turn: proposes everything staged, unless exactly this was proposed before and awaits review. */
export async function proposeStaged(
  proposal: SessionProposal,
  turn: {
    readonly own: Pick<OwnCalls, "tools">;
    readonly turnId: string;
    readonly signal: AbortSignal;
    emit(event: SessionEvent): void;
  },
): Promise<void> {
  const { tree } = proposal;
  await proposal.renew();
  if (tree.files.size === 0 || proposal.isProposed) return;
  const { own, turnId, signal } = turn;
  const call = { id: `${turnId}-proposal`, name: "ProposeChanges", argumentsJson: "{}" };
  const [result] = await own.tools.run([call], { turnId, signal });
  if (result !== undefined && result.error === undefined) return;
  const why = result?.error?.message ?? "it was not tried.";
  turn.emit({ type: "warning", text: `What is staged was not proposed, and stays staged: ${why}` });
}
