import type { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionView } from "@gennai/client/view/session-view";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import { keptText } from "../../documents/kept-text.ts";
import { showProposal, unseenTitle } from "../../documents/proposal-diff.ts";
import { showInformation } from "../../editor/notifications.ts";
import { uriInWorkspace } from "../../editor/workspace-uri.ts";
import type { UnseenFile } from "../../review/unseen-file.ts";
import type { Command, Workbench } from "../workbench.ts";

/** What `vscode.changes` takes for each file: its name, the old and the new content; undefined if there was, or is, no file. */
type ChangedResource = readonly [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];

interface Choice extends vscode.QuickPickItem {
  readonly show: () => Promise<void>;
}

/** All files of a proposal, of unseen changes, or of a change set, in one native diff. */
export const showAllChanges: Command = async (workbench) => {
  const { proposals } = workbench.review;
  const { changeSets } = workbench.sessions.view;
  const choices: Choice[] = [...proposals.values()].reverse().map((proposal) => ({
    label: "Proposed, not written yet",
    description: filesIn(proposal.changes),
    show: async () => showProposal(proposal, await workbench.session(), workbench.documents),
  }));
  const unseen = workbench.unseen.files;
  if (unseen.length > 0) {
    const show = async () => showUnseen(workbench, unseen);
    choices.push({ label: unseenTitle, description: filesIn(unseen), show });
  }
  // Applied change sets are offered only if nothing waits for a decision or a first look.
  if (choices.length === 0) {
    for (const changeSet of changeSets.toReversed()) choices.push(changeSetChoice(workbench, changeSet));
  }
  const [first] = choices;
  if (first === undefined) {
    void showInformation("The agent has changed nothing in this session.");
    return;
  }
  const choice = choices.length === 1 ? first : await vscode.window.showQuickPick(choices, { title: "Which changes?" });
  await choice?.show();
};

function changeSetChoice(workbench: Workbench, changeSet: SessionView["changeSets"][number]): Choice {
  return {
    label: filesIn(changeSet.files),
    description: changeSet.time?.toLocaleTimeString() ?? "",
    show: async () => showChangeSet(changeSet.files, await workbench.session(), workbench),
  };
}

async function showUnseen({ root, documents }: Workbench, files: readonly UnseenFile[]): Promise<void> {
  const group = documents.group();
  const resources = await Promise.all(
    files.map(async ({ path, base, agent, movedFrom }): Promise<ChangedResource> => {
      const before = base === undefined ? undefined : group.add(movedFrom ?? path, base);
      const file = agent === undefined ? group.add(path, "", { type: "file", path }) : await uriInWorkspace(root, path);
      return [file, before, file];
    }),
  );
  await showChanges(unseenTitle, resources);
}

async function showChangeSet(
  files: readonly AppliedFile[],
  session: AgentSession,
  { documents }: Workbench,
): Promise<void> {
  const group = documents.group();
  const documentOf = async (path: string, sha256: string | undefined) =>
    sha256 === undefined ? undefined : group.add(path, await keptText(session, sha256));
  const resources = await Promise.all(
    files.map(async ({ path, beforeSha256, afterSha256 }): Promise<ChangedResource> => {
      const [before, after] = await Promise.all([documentOf(path, beforeSha256), documentOf(path, afterSha256)]);
      return [after ?? before ?? group.add(path, ""), before, after];
    }),
  );
  await showChanges("Changes of the agent", resources);
}

async function showChanges(title: string, resources: readonly ChangedResource[]): Promise<void> {
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

function filesIn(files: readonly { readonly path: string }[]): string {
  const [first] = files;
  return files.length === 1 ? (first?.path ?? "") : `${first?.path ?? ""} and ${files.length - 1} more`;
}
