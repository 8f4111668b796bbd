import type { SessionView } from "@gennai/client/view/session-view";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import { showInformation } from "../editor/notifications.ts";

/** The newest proposal, or the one the user chooses among several. */
export async function pickProposal(open: ReadonlyMap<string, Proposal>): Promise<Proposal | undefined> {
  const proposals = [...open.values()].reverse();
  if (proposals.length === 0) {
    void showInformation("No proposal waits for review. Proposal Mode is chosen in gennai.editingMode.");
    return undefined;
  }
  if (proposals.length === 1) return proposals[0];
  const items = proposals.map((proposal) => ({
    label: proposal.changes.map(({ path }) => path).join(", "),
    description: proposal.hasConflicts ? "has conflicts" : "",
    proposal,
  }));
  return (await vscode.window.showQuickPick(items, { title: "Which proposal?" }))?.proposal;
}

/** The id of a change set that can be taken back. */
export async function pickChangeSet(changeSets: SessionView["changeSets"]): Promise<string | undefined> {
  if (changeSets.length === 0) {
    void showInformation("This session has nothing to undo.");
    return undefined;
  }
  const items = changeSets.toReversed().map(({ changeSetId, time, files }) => ({
    label: files.map(({ path }) => path).join(", "),
    description: time?.toLocaleTimeString() ?? "",
    changeSetId,
  }));
  return (await vscode.window.showQuickPick(items, { title: "Undo which change set?" }))?.changeSetId;
}
