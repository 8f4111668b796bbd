import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { BundleDigest, closingLine, elementLines, openingLine } from "@gennai/governance/ledger/bundle-layout";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import {
  type RecordPosition,
  type SealedRecord,
  sealRecord,
  workspaceIdOf,
} from "@gennai/governance/ledger/ledger-record";
import { bundleMessage, encodeSignature, type Signer, signHead } from "@gennai/governance/ledger/ledger-signature";
import { sha256Hex } from "@gennai/protocol/digest";

/** A key of the one who signs. */
export interface TestKey extends Signer {
  /** SPKI PEM. */
  readonly pem: string;
}

export function testKey(): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return { keyId: keyIdOf(publicKey), sign: (message) => sign(null, message, privateKey), pem: pemOf(publicKey) };
}

const workspace = workspaceIdOf("/home/ada/project");

/** A bundle as Gennai exports it. @param entryOf what a record says, from 1 */
export async function madeBundle(
  key: TestKey,
  count: number,
  entryOf: (seq: number) => Partial<LedgerEntry> = () => ({}),
): Promise<string> {
  const records: SealedRecord[] = [];
  for (let seq = 1; seq <= count; seq++) {
    const previous = records.at(-1);
    const genesis = { workspace, preamble_bytes: 0, preamble_sha256: sha256Hex("") };
    const place: RecordPosition = previous === undefined ? { seq: 1, genesis } : { seq, previousHash: previous.hash };
    records.push(sealRecord({ ...plain, ...entryOf(seq) }, place, key, { salt: "5a".repeat(16) }));
  }
  const last = records.at(-1);
  const head = last === undefined ? null : signHead({ workspace, seq: last.seq, hash: last.hash }, key);
  const digest = new BundleDigest();
  const lines: string[] = [];
  const add = (line: string) => void lines.push(digest.take(line));
  const first = { exported: "2026-01-02T03:04:05.678Z", format: "gennai-ledger-bundle", head };
  add(openingLine({ ...first, key_id: key.keyId, public_key: key.pem }, "records"));
  for await (const line of elementLines(records.map(({ line }) => line))) add(line);
  add(closingLine({ redactions: { count: 0, marker: "***" } }, "sessions"));
  const tail = { version: 1, withheld: [], workspace };
  digest.take(closingLine(tail));
  const signature = encodeSignature(key.sign(bundleMessage(digest.hex())));
  return `${lines.join("\n")}\n${closingLine({ signature, ...tail })}\n`;
}

const plain: LedgerEntry = {
  kind: "outcome",
  time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  sessionId: "session-1",
  turnId: "turn-1",
  modelId: "acme/model-1",
  revision: "0123456789abcdef0123456789abcdef01234567",
  calls: [{ callId: "c1", tool: "Edit", input: { path: "src/größe.ts" }, verdict: "allow", rule: "", risk: "medium" }],
  files: [],
  details: {},
};

function keyIdOf(key: KeyObject): string {
  return sha256Hex(key.export({ type: "spki", format: "der" })).slice(0, 16);
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}
