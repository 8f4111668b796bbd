import * as vscode from "vscode";
import { bringsServer, broughtProgram } from "../server/launch/brought-server.ts";
import { protectableBranches } from "../server/launch/launch-command.ts";
import type { GennaiSettings } from "../settings/settings.ts";

/**
 * Our tools for the editor's own agent: `gennai mcp serve` for each folder of this machine. None in a workspace that is not trusted, and
 * where the server is elsewhere.
 */
export async function offeredTools(
  { extension, version }: { readonly extension: string; readonly version: string },
  { serverCommand, nodePath, baseUrl, protectedBranches }: GennaiSettings,
): Promise<vscode.McpStdioServerDefinition[]> {
  if (!vscode.workspace.isTrusted || baseUrl !== "") return [];
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const brought = serverCommand === "" && bringsServer(extension);
  const start = brought
    ? await broughtProgram({ extension, nodePath, folders: folders.map(({ uri }) => uri.fsPath) })
    : { command: serverCommand || "gennai", args: [], env: {} };
  if (start === undefined) return [];
  const protect = protectableBranches(protectedBranches).flatMap((branch) => ["--protect", branch]);
  return folders.map(
    ({ name, uri }) =>
      new vscode.McpStdioServerDefinition(
        folders.length === 1 ? "Gennai" : `Gennai: ${name}`,
        start.command,
        [...start.args, "mcp", "serve", "--workspace", uri.fsPath, ...protect],
        start.env,
        version,
      ),
  );
}
