import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import type { HeldDirectory } from "@gennai/machine/process/run-command";
import type { Workspace } from "@gennai/machine/workspace/workspace";

const maxFiles = 20;
const maxBytes = 1024 * 1024;

/**
 * What a command depends on besides its text: its directory, and the workspace files it names. Part of what the user approves:
 * a script that is changed while the question is open was not approved.
 */
export async function commandOperands(
  workspace: Workspace,
  command: CommandAnalysis,
  directory: HeldDirectory | undefined,
): Promise<Readonly<Record<string, string>>> {
  const operands: Record<string, string> = {};
  if (directory !== undefined) operands["."] = `directory ${directory.device}:${directory.inode}`;
  const named = command.paths.filter(
    ({ access, pattern }) => pattern !== true && (access === "read" || access === "unknown"),
  );
  for (const { absolute } of named.slice(0, maxFiles)) {
    const path = await workspace.resolve(absolute).catch(() => undefined);
    if (path === undefined || !path.inside || path.relative === "") continue;
    const stat = await workspace.stat(path).catch(() => undefined);
    if (stat?.kind !== "file" || stat.size > maxBytes) continue;
    operands[path.relative] = (await workspace.read(path, { maxBytes })).sha256;
  }
  return operands;
}
