import type { AgentClient } from "@gennai/client/connection/connection";
import { type FirstCommit, makeFirstCommit } from "@gennai/client/session/workspace-state";
import { plural } from "@gennai/protocol/plural";
import * as vscode from "vscode";

interface Choice extends vscode.QuickPickItem {
  readonly commits?: boolean;
}

const callTimeoutMs = 60_000;

/**
 * Offers the first commit of a repository without one, and has the server make it after a yes. Asks again if the files have
 * changed meanwhile. False: the user closed the question, so nothing should start. Rejects with `ConnectError`; then none was
 * made.
 */
export async function offerFirstCommit(client: AgentClient, sessionId: string): Promise<boolean> {
  const make = (sha256: string) =>
    makeFirstCommit(client, { sessionId, sha256, signal: AbortSignal.timeout(callTimeoutMs) });
  let planned = await make("");
  while (planned !== undefined && planned.commit === undefined) {
    const commits = await askFirstCommit(planned);
    if (commits === undefined) return false;
    if (!commits) return true;
    planned = await make(planned.sha256);
  }
  return true;
}

/**
 * Asks whether to make the first commit: its files and the excluded files are listed below the answers. "Not now" comes first, so
 * that an Enter meant for the question before commits nothing. undefined: the user closed the question.
 */
async function askFirstCommit(planned: FirstCommit): Promise<boolean | undefined> {
  const { branch, fileCount, leftOutCount } = planned;
  const choices: readonly Choice[] = [
    { label: "Not now", detail: "The agent works in a repository without a commit.", commits: false },
    {
      label: `Commit ${plural(fileCount, "file")} on ${branch}`,
      detail: "So that Source Control shows what the agent changes. No hooks run.",
      commits: true,
    },
    ...listed(`goes in: ${plural(fileCount, "file")}`, planned.files),
    ...listed(
      `stays out, not for the agent, secret by its name, or for a filter like git-crypt and LFS: ${plural(leftOutCount, "file")}`,
      planned.leftOut,
    ),
  ];
  for (;;) {
    const chosen = await vscode.window.showQuickPick(choices, {
      title: "This repository has no commit yet. Make the first one?",
      placeHolder: "Nothing is committed before you choose",
      ignoreFocusOut: true,
    });
    if (chosen === undefined) return undefined;
    // Files in the list are only there to be read: choosing one asks again.
    if (chosen.commits !== undefined) return chosen.commits;
  }
}

function listed(title: string, paths: readonly string[]): readonly Choice[] {
  if (paths.length === 0) return [];
  return [{ label: title, kind: vscode.QuickPickItemKind.Separator }, ...paths.map((label) => ({ label }))];
}
