import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { headSchema, type SignedHead } from "@gennai/governance/ledger/ledger-signature";
import { replaceFile } from "@gennai/machine/replace-file";
import { hasCode, ifMissing } from "@gennai/machine/system-error";
import { canonicalJson } from "@gennai/protocol/canonical-json";

export function headDirectory(stateDir: string): string {
  return join(stateDir, "heads");
}

export function ledgerHeadFile(stateDir: string, workspaceRoot: string): string {
  return join(headDirectory(stateDir), `${workspaceIdOf(workspaceRoot)}.json`);
}

/** Undefined if there is none; an unreadable file gives an unsigned head. */
export async function readHead(file: string): Promise<SignedHead | undefined> {
  const text = await readFile(file, "utf8").catch(ifMissing(undefined));
  if (text === undefined) return undefined;
  try {
    return headSchema.parse(JSON.parse(text));
  } catch {
    return { workspace: "", seq: 0, hash: "", key_id: "", signature: "" };
  }
}

export async function writeHead(file: string, head: SignedHead): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, `${canonicalJson(head)}\n`, { durable: true });
}

/**
 * Writes the head of a new ledger, durably before its first record: so records without a head mean that the head was removed.
 * An existing one is kept. Synchronous: used only once, when a ledger begins.
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
