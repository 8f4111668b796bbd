import * as vscode from "vscode";
import { askModally, showInformation, showWarning } from "../editor/notifications.ts";
import { uriOf } from "../editor/workspace-uri.ts";
import { knownServers, withServers } from "../mcp/known-servers.ts";
import type { Command } from "../workbench.ts";

/**
 * Offers the MCP servers of `.vscode/mcp.json` for the sessions of this folder: what is chosen is written into `.mcp.json`. It starts
 * nothing: the server starts none that was not accepted.
 */
export const addMcpServers: Command = async ({ root }) => {
  const read = (path: string) => readText(vscode.Uri.joinPath(uriOf(root), ...path.split("/")));
  const [theirs, ours] = await Promise.all([read(".vscode/mcp.json"), read(".mcp.json")]);
  if (root === "" || theirs === undefined) {
    void showInformation("This folder has no .vscode/mcp.json.");
    return;
  }
  const { servers: known, leftOut: unusable } = knownServers(theirs);
  const { kept } = withServers(ours, known);
  const servers = known.filter(({ name }) => !kept.includes(name));
  const leftOut = [...unusable, ...kept.map((name) => `${name}: .mcp.json has one of this name`)];
  if (leftOut.length > 0) void showWarning(`MCP servers are left out: ${leftOut.join("; ")}.`);
  if (servers.length === 0) return;
  const items = servers.map((server) => ({ label: server.name, detail: server.words, server }));
  const chosen = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: "Which MCP servers shall sessions of Gennai have?",
    placeHolder: "Nothing starts before you accepted it",
  });
  if (chosen === undefined || chosen.length === 0) return;
  const choice = await askModally(
    `Write ${chosen.length === 1 ? "this server" : "these servers"} into .mcp.json?`,
    chosen.map(({ label, detail }) => `${label}: ${detail}`).join("\n\n"),
    "Write",
  );
  if (choice !== "Write") return;
  const file = vscode.Uri.joinPath(uriOf(root), ".mcp.json");
  if (vscode.workspace.textDocuments.some(({ uri, isDirty }) => isDirty && uri.toString() === file.toString())) {
    throw new Error(".mcp.json has changes that are not saved. Save them first.");
  }
  // The file may be another one by now.
  const added = withServers(
    await read(".mcp.json"),
    chosen.map(({ server }) => server),
  );
  if (added.kept.length > 0) {
    throw new Error(`.mcp.json has servers of these names meanwhile, and stays as it is: ${added.kept.join(", ")}.`);
  }
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(added.text));
  const commands = added.written.map((name) => `gennai mcp accept ${name}`).join("\n");
  const next = await showInformation(
    `Written: ${added.written.join(", ")}. Each starts only after you accepted it as it is now: run the commands in a terminal.`,
    "Copy Commands",
    "Open .mcp.json",
  );
  if (next === "Copy Commands") await vscode.env.clipboard.writeText(commands);
  if (next === "Open .mcp.json") await vscode.window.showTextDocument(file);
};

/** undefined: there is no such file. */
async function readText(uri: vscode.Uri): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
    throw error;
  }
}
