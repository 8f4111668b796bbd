import { ownDecisions } from "@gennai/client/host/review-state";
import { type ContentSource, loadChangeContent, shownText } from "@gennai/client/review/change-content";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { otherHalf } from "@gennai/protocol/whole-moves";
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
  session: ContentSource,
  documents: ContentDocuments,
  line?: number,
): Promise<void> {
  const change = proposal.changes.find(({ id }) => id === changeId);
  if (change === undefined) throw new Error("The proposal has no such change.");
  const { before, after } = await sidesOf(change, proposal, session, documents.group());
  const what = change.movedFrom === undefined ? `proposed ${change.operation}` : "proposed rename";
  await vscode.commands.executeCommand("vscode.diff", before, after, `${change.path} (${what})`, {
    preview: true,
    viewColumn: columnBesideRepl(),
    ...(line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) }),
  });
}

/** Titles of the diffs of all files. */
export const proposalTitle = "Proposed changes";
export const unseenTitle = "Written since you last looked";

/** All changes of a proposal in one multi-file diff. */
export async function showProposal(
  proposal: Proposal,
  session: ContentSource,
  documents: ContentDocuments,
): Promise<void> {
  const group = documents.group();
  const resources = await Promise.all(
    ownDecisions(proposal.changes).map(async (change) => {
      const { before, after } = await sidesOf(change, proposal, session, group);
      // Actions stand in the new side, so that a delete has one.
      return change.operation === "create" && change.movedFrom === undefined
        ? [after, undefined, after]
        : [after, before, after];
    }),
  );
  await vscode.commands.executeCommand("vscode.changes", proposalTitle, resources);
}

/** The documents of a change; what is renamed is compared with what is at the old path. The actions are in the new side. */
async function sidesOf(
  change: ProposedChange,
  { proposalId, changes }: Proposal,
  session: ContentSource,
  group: ReturnType<ContentDocuments["group"]>,
) {
  const moved = change.movedFrom === undefined ? undefined : otherHalf(change, changes);
  const [{ base, fresh }, old] = await Promise.all([
    proposalText(change, session),
    moved === undefined ? undefined : proposalText(moved, session),
  ]);
  return {
    before: group.add(moved?.path ?? change.path, old?.base ?? base),
    after: group.add(change.path, fresh, { type: "proposed", proposalId, changeId: change.id }),
  };
}

/** Both sides of a change, checked against their digests; empty if there is no file. Throws if they cannot be loaded. */
export async function proposalText(change: ProposedChange, session: ContentSource): Promise<ProposalText> {
  const signal = AbortSignal.timeout(10_000);
  const content = await loadChangeContent(change, session.blob.bind(session), { signal });
  if (content.type !== "loaded") throw new Error(content.type === "unverified" ? content.reason : "It is not loaded.");
  return { base: shownText(content.base), fresh: shownText(content.fresh) };
}
