import { join } from "node:path";
import { ensurePrivateDirectory, findPrivateFile, removePrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import { sha256Hex } from "@gennai/protocol/digest";

/** Name of the source in messages, for servers named by an editor. */
export const editorMcpFile = "the editor's settings";

/** The servers that the workspace's editor last named, in the form of `.mcp.json`; undefined if there are none. */
export function readEditorMcp(stateDir: string, workspaceRoot: string): Promise<string | undefined> {
  return findPrivateFile(fileOf(stateDir, workspaceRoot));
}

/** Private, because editors pass keys along. @param servers by name, each as in `mcpServerSchema` */
export async function writeEditorMcp(
  stateDir: string,
  workspaceRoot: string,
  servers: Readonly<Record<string, unknown>>,
): Promise<void> {
  const file = fileOf(stateDir, workspaceRoot);
  if (Object.keys(servers).length === 0) {
    await removePrivateFile(file);
    return;
  }
  await ensurePrivateDirectory(stateDir);
  await ensurePrivateDirectory(join(stateDir, "mcp"));
  await replaceFile(file, JSON.stringify({ mcpServers: servers }, undefined, 2));
}

function fileOf(stateDir: string, workspaceRoot: string): string {
  return join(stateDir, "mcp", `${sha256Hex(workspaceRoot).slice(0, 32)}.editor.json`);
}
