import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ensurePrivateDirectory, findPrivateFile, readPrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import { sha256Hex } from "@gennai/protocol/digest";

const fileName = "client-id";

/**
 * The id by which servers know a directory of this machine that they cannot reach: always the same, different for every directory
 * and user, and telling nothing of either. Rejects with `UnsafeFileError` if others could change the file with its secret.
 */
export async function heldWorkspaceId(stateDir: string, root: string): Promise<string> {
  return sha256Hex(`${await installationSecret(stateDir)}\0${root}`).slice(0, 40);
}

async function installationSecret(stateDir: string): Promise<string> {
  const file = join(stateDir, fileName);
  await ensurePrivateDirectory(stateDir);
  const known = await findPrivateFile(file);
  if (known !== undefined) return known.trim();
  await replaceFile(file, `${randomBytes(16).toString("hex")}\n`);
  // Another process may have been faster: both use the present content of the file.
  return (await readPrivateFile(file)).trim();
}
