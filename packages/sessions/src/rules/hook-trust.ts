import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseHooks } from "@gennai/governance/hooks/hook-config";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ensurePrivateDirectory, findPrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import { hasCode } from "@gennai/machine/system-error";
import { readControlFile } from "@gennai/machine/workspace/files/read-control-file";
import { acquireFileLock } from "@gennai/store/database/file-lock";
import * as z from "zod";

export const projectHooksFile = ".gennai/hooks.json";
const maxBytes = 256 * 1024;

/** Real path of the workspace, and SHA-256 of the hooks file that a user reviewed. */
const trustSchema = z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/));

export interface ProjectHooks {
  readonly text: string;
  readonly sha256: string;
}

/** The workspace's own hooks file; undefined if there is none. Throws `UnreadableFile`. */
export async function readProjectHooks(workspaceRoot: string): Promise<ProjectHooks | undefined> {
  try {
    const text = await readControlFile(workspaceRoot, projectHooksFile, maxBytes);
    return { text, sha256: createHash("sha256").update(text).digest("hex") };
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Digest of the workspace's hooks file that a user trusted; undefined if there is none. */
export async function trustedDigest(stateDir: string, workspaceRoot: string): Promise<string | undefined> {
  return (await readTrust(stateDir))[workspaceRoot];
}

/** See `WorkspaceHooks.trust`. */
export async function trustProjectHooks(
  stateDir: string,
  workspaceRoot: string,
  record: (sha256: string) => Promise<void>,
): Promise<readonly string[] | undefined> {
  const found = await readProjectHooks(workspaceRoot);
  if (found === undefined) return undefined;
  const commands = parseHooks(found.text, projectHooksFile).map(({ command }) => command);
  await record(found.sha256);
  const directory = await prepareStateDirectory(stateDir);
  await ensurePrivateDirectory(directory);
  using _lock = await acquireFileLock(join(directory, "trusted-hooks.lock"), { timeout: 5_000 });
  const trust = { ...(await readTrust(directory)), [workspaceRoot]: found.sha256 };
  await replaceFile(trustFile(directory), `${JSON.stringify(trust, undefined, 2)}\n`);
  return commands;
}

async function readTrust(stateDir: string): Promise<Readonly<Record<string, string>>> {
  const text = await findPrivateFile(trustFile(stateDir));
  return text === undefined ? {} : trustSchema.parse(JSON.parse(text));
}

function trustFile(stateDir: string): string {
  return join(stateDir, "trusted-hooks.json");
}
