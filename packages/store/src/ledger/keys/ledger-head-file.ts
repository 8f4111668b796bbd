import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { headSchema, type SignedHead } from "@gennai/governance/ledger/ledger-signature";
import { hasCode } from "@gennai/machine/system-error";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { replaceSynced } from "../../database/replace-synced.ts";

export function headDirectory(stateDir: string): string {
  return join(stateDir, "heads");
}

export function ledgerHeadFile(stateDir: string, workspaceRoot: string): string {
  return join(headDirectory(stateDir), `${workspaceIdOf(workspaceRoot)}.json`);
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

export async function writeHead(file: string, head: SignedHead): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceSynced(file, `${canonicalJson(head)}\n`);
}

/**
 * The head of a ledger that begins, on the disk before its first record is: so records without a head mean that somebody took
 * the head away. One that is there stays. Blocking: for the one time a ledger begins.
 */
export function writeFirstHead(file: string, head: SignedHead): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let descriptor: number;
  try {
    descriptor = openSync(file, "wx", 0o600);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return;
    throw error;
  }
  try {
    writeFileSync(descriptor, `${canonicalJson(head)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
