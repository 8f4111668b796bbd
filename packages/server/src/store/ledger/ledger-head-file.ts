import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import type { SignedHead } from "@gennai/governance/ledger/ledger-signature";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { z } from "zod";
import { hasCode } from "../../system-error.ts";

export const headSchema = z.strictObject({
  workspace: z.string(),
  seq: z.number().int().nonnegative(),
  hash: z.string(),
  key_id: z.string(),
  signature: z.string(),
});

export function ledgerHeadFile(stateDir: string, workspaceRoot: string): string {
  return join(stateDir, "heads", `${workspaceIdOf(workspaceRoot)}.json`);
}

/** undefined when there is none; a file that cannot be read as a head gives a head that nobody signed. */
export async function readHead(file: string): Promise<SignedHead | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    return headSchema.parse(JSON.parse(text));
  } catch {
    return { workspace: "", seq: 0, hash: "", key_id: "", signature: "" };
  }
}

/** Replaces the head at once: a reader sees the old one or the new one. */
export async function writeHead(file: string, head: SignedHead): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(`${canonicalJson(head)}\n`);
    // Without it, a power cut could leave an empty file under the final name.
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
