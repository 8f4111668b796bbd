import { join } from "node:path";
import {
  ensurePrivateDirectory,
  findPrivateFile,
  removePrivateFile,
  writePrivateFile,
} from "@gennai/machine/private-file";
import { sha256Hex } from "@gennai/protocol/digest";

/** In messages, for the servers that an editor names. */
export const editorMcpFile = "the editor's settings";

/** The servers that the editor of a workspace named last, in the form of `.mcp.json`; undefined: none. */
export function readEditorMcp(stateDir: string, workspaceRoot: string): Promise<string | undefined> {
  return findPrivateFile(fileOf(stateDir, workspaceRoot));
}

/** Private, for editors pass keys along. @param servers by name, each as `mcpServerSchema` has it */
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
  await writePrivateFile(file, JSON.stringify({ mcpServers: servers }, undefined, 2));
}

function fileOf(stateDir: string, workspaceRoot: string): string {
  return join(stateDir, "mcp", `${sha256Hex(workspaceRoot).slice(0, 32)}.editor.json`);
}
