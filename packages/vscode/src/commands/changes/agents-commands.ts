import { plural } from "@gennai/protocol/plural";
import * as vscode from "vscode";
import { showInformation, showWarning } from "../../editor/notifications.ts";
import { uriInWorkspace } from "../../editor/workspace-uri.ts";
import {
  type AgentsStaged,
  commitAgents as commit,
  stageAgents as stage,
  type WorkTree,
} from "../../git/agents-index.ts";
import { editorsGit } from "../../git/vscode-git.ts";
import { withoutAgent } from "../../review/agent-lines.ts";
import type { Command, Workbench } from "../workbench.ts";

/** Stages the agent's lines, and nothing else of the files. */
export const stageAgents: Command = async (workbench) => {
  const { tree, files } = await agentsWork(workbench);
  said("Staged", await stage(tree, files));
};

/** Commits the agent's lines, and nothing else of the files or of what is staged. */
export const commitAgents: Command = async (workbench) => {
  const { agentChanges } = workbench;
  const value = agentChanges.message;
  const options = { title: "Message of the commit", value, ignoreFocusOut: true };
  const message = value.trim() === "" ? await vscode.window.showInputBox(options) : value;
  if (message === undefined || message.trim() === "") return;
  const { tree, files } = await agentsWork(workbench);
  const committed = await commit(tree, files, message);
  if (committed.files.length > 0) agentChanges.message = "";
  said("Committed", committed);
};

/** The file beside what it would be without the agent. */
export const showAgentsLines: Command = async (workbench, [path]) => {
  if (typeof path !== "string") return;
  const { agentChanges, documents, root } = workbench;
  const uri = await uriInWorkspace(root, path);
  const [file] = await agentChanges.files(await workbench.session(), "", [path]);
  const bytes = await vscode.workspace.fs.readFile(uri).then(undefined, () => undefined);
  const now = bytes === undefined ? "" : new TextDecoder().decode(bytes);
  const before = bytes === undefined ? (file?.steps.at(-1)?.before ?? "") : withoutAgent(now, file?.steps ?? []);
  const group = documents.group();
  const right = bytes === undefined ? group.add(path, "") : uri;
  const title = `${path} (the agent's lines)`;
  await vscode.commands.executeCommand("vscode.diff", group.add(path, before), right, title, { preview: true });
};

async function agentsWork(workbench: Workbench) {
  const { agentChanges, root } = workbench;
  const inFolder = await editorsGit(root);
  const [top = "", prefix = ""] = (await inFolder(["rev-parse", "--show-toplevel", "--show-prefix"]))
    .toString()
    .split("\n");
  const tree: WorkTree = {
    git: await editorsGit(top),
    read: async (path) =>
      vscode.workspace.fs.readFile(vscode.Uri.joinPath(vscode.Uri.file(top), path)).then(undefined, () => undefined),
  };
  return { tree, files: await agentChanges.files(await workbench.session(), prefix) };
}

function said(done: "Staged" | "Committed", { files, left }: AgentsStaged): void {
  if (left.length > 0) {
    const what = files.length === 0 ? "" : `${done} ${plural(files.length, "file")}. `;
    void showWarning(`${what}Left for you, because you changed the same places: ${left.join(", ")}`);
  } else if (files.length === 0) void showInformation("All that the agent changed is there already.");
  else void vscode.window.setStatusBarMessage(`Gennai: ${done.toLowerCase()} ${plural(files.length, "file")}`, 5000);
}
