import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { sha256Hex } from "@gennai/protocol/digest";
import { ensurePrivateDirectory, findPrivateFile, readPrivateFile, writePrivateFile } from "../private-file.ts";

const fileName = "client-id";

/**
 * The id under which servers know a directory of this machine that they cannot reach: the same every time, another one for
 * every directory and every user. It says nothing of either. Throws `UnsafeFileError` when others could change it.
 */
export async function heldWorkspaceId(stateDir: string, root: string): Promise<string> {
  return sha256Hex(`${await installationSecret(stateDir)}\0${root}`).slice(0, 40);
}

async function installationSecret(stateDir: string): Promise<string> {
  const file = join(stateDir, fileName);
  await ensurePrivateDirectory(stateDir);
  const known = await findPrivateFile(file);
  if (known !== undefined) return known.trim();
  await writePrivateFile(file, `${randomBytes(16).toString("hex")}\n`);
  // Another process may have been faster: the file's present content is used by both.
  return (await readPrivateFile(file)).trim();
}
