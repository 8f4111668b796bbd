import { acceptMcpServer, listMcpServers, type NamedMcpServer } from "@gennai/client/governance/mcp-servers";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import * as vscode from "vscode";
import { askModally, showInformation, showWarning } from "../editor/notifications.ts";
import { uriOf } from "../editor/workspace-uri.ts";
import { knownServers, withServers } from "../settings/known-servers.ts";
import type { Command } from "./workbench.ts";

const callTimeoutMs = 30_000;

/**
 * Offers the MCP servers of `.vscode/mcp.json` for the sessions of this folder, and writes the chosen ones into `.mcp.json`. This
 * starts nothing: the server starts only accepted ones.
 */
export const addMcpServers: Command = async (workbench) => {
  const { root } = workbench;
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
    title: "Which MCP servers should sessions of Gennai have?",
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
  // The file may have changed meanwhile.
  const added = withServers(
    await read(".mcp.json"),
    chosen.map(({ server }) => server),
  );
  if (added.kept.length > 0) {
    throw new Error(`.mcp.json has servers of these names meanwhile, and stays as it is: ${added.kept.join(", ")}.`);
  }
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(added.text));
  const next = await showInformation(
    `Written: ${added.written.join(", ")}. Each starts only after you accepted it as it is now.`,
    "Accept…",
    "Open .mcp.json",
  );
  if (next === "Accept…") await acceptMcpServers(workbench, added.written);
  if (next === "Open .mcp.json") await vscode.window.showTextDocument(file);
};

/**
 * Shows the MCP servers of this folder that are not accepted, one after the other, and accepts those that the user agrees to.
 * @param args names of the servers to show; none: all
 */
export const acceptMcpServers: Command = async (workbench, args) => {
  const { governance } = await workbench.connect();
  const list = () => listMcpServers(governance, "", { signal: AbortSignal.timeout(callTimeoutMs) });
  const { servers, problems } = await list();
  if (problems.length > 0) void showWarning(`MCP servers are left out: ${problems.join("; ")}`);
  const waiting = servers.filter(
    ({ name, state, digest }) => state !== "accepted" && digest !== "" && (args.length === 0 || args.includes(name)),
  );
  const accepted: string[] = [];
  for (const server of waiting) {
    const choice = await askModally(questionAbout(server), detailsOf(server), "Accept");
    if (choice !== "Accept") continue;
    await acceptMcpServer(governance, "", server, { signal: AbortSignal.timeout(callTimeoutMs) });
    accepted.push(server.name);
  }
  if (accepted.length > 0) void showInformation(`With the next turn this starts: ${accepted.join(", ")}.`);
  else if (waiting.length === 0) void showInformation("No MCP server of this folder waits to be accepted.");
};

function questionAbout({ name, state }: NamedMcpServer): string {
  return state === "changed"
    ? `Accept the MCP server ${name} again? It changed, or what it runs did.`
    : `Accept the MCP server ${name} as it is now?`;
}

function detailsOf({ start, runs }: NamedMcpServer): string {
  const lines = [...start, ...runs.map(({ name, content }) => `runs ${name}: ${content}`)];
  return [
    lines.map(spelledOut).join("\n"),
    "It runs beside the model, with your rights and outside the sandbox. Each of its tools still asks before its first call.",
  ].join("\n\n");
}

/** undefined if there is no such file. */
async function readText(uri: vscode.Uri): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
    throw error;
  }
}
