import { type ContentSource, loadChangeContent, shownText } from "@gennai/client/review/change-content";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import { columnBesideRepl } from "./beside-repl.ts";
import type { ContentDocuments } from "./content-documents.ts";

/** Both sides of a proposed change; empty if there is no file. */
export interface ProposalText {
  readonly base: string;
  readonly fresh: string;
}

/**
 * Shows a proposed change in the editor's own diff. Both sides are the bytes that the proposal names by digest, not the present
 * file. Throws if they cannot be loaded.
 * @param line line of the proposed text, 0-based, that is shown first
 */
export async function showProposedChange(
  proposal: Proposal,
  changeId: string,
  session: AgentSession,
  documents: ContentDocuments,
  line?: number,
): Promise<void> {
  const change = proposal.changes.find(({ id }) => id === changeId);
  if (change === undefined) throw new Error("The proposal has no such change.");
  const { path } = change;
  const { base, fresh } = await proposalText(change, session);
  const side = { proposalId: proposal.proposalId, changeId };
  const group = documents.group();
  await vscode.commands.executeCommand(
    "vscode.diff",
    group.add(path, base, { ...side, side: "base" }),
    group.add(path, fresh, { ...side, side: "fresh" }),
    `${path} (proposed ${change.operation})`,
    {
      preview: true,
      viewColumn: columnBesideRepl(),
      ...(line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) }),
    },
  );
}

/** All changes of a proposal in one multi-file diff. */
export async function showProposal(
  proposal: Proposal,
  session: AgentSession,
  documents: ContentDocuments,
): Promise<void> {
  const group = documents.group();
  const resources = await Promise.all(
    proposal.changes.map(async (change) => {
      const { base, fresh } = await proposalText(change, session);
      const side = { proposalId: proposal.proposalId, changeId: change.id };
      const before = group.add(change.path, base, { ...side, side: "base" });
      const after = group.add(change.path, fresh, { ...side, side: "fresh" });
      if (change.operation === "create") return [after, undefined, after];
      return change.operation === "delete" ? [before, before, undefined] : [after, before, after];
    }),
  );
  await vscode.commands.executeCommand("vscode.changes", "Proposed changes", resources);
}

/** Both sides of a change, checked against their digests; empty if there is no file. Throws if they cannot be loaded. */
export async function proposalText(change: ProposedChange, session: ContentSource): Promise<ProposalText> {
  const signal = AbortSignal.timeout(10_000);
  const content = await loadChangeContent(change, session.blob.bind(session), { signal });
  if (content.type !== "loaded") throw new Error(content.type === "unverified" ? content.reason : "It is not loaded.");
  return { base: shownText(content.base), fresh: shownText(content.fresh) };
}
