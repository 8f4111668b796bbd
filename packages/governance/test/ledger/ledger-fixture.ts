import { generateKeyPairSync, sign, verify } from "node:crypto";
import { sha256Hex } from "@gennai/protocol/digest";
import type { LedgerEntry } from "#ledger/ledger-entry";
import { type RecordPosition, type SealedRecord, sealRecord, workspaceIdOf } from "#ledger/ledger-record";
import type { Signer, Verifier } from "#ledger/ledger-signature";

export const workspaceRoot = "/home/ada/project";

export function keyPair(keyId: string): { signer: Signer; verifier: Verifier } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    signer: { keyId, sign: (message) => sign(null, message, privateKey) },
    verifier: {
      knows: (id) => id === keyId,
      verify: (id, message, signature) => id === keyId && verify(null, message, publicKey, signature),
    },
  };
}

export const salt = "5a".repeat(16);

export function entry(change: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    kind: "outcome",
    time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    sessionId: "session-1",
    turnId: "turn-1",
    modelId: "acme/model-1",
    revision: "0123456789abcdef0123456789abcdef01234567",
    calls: [
      { callId: "c1", tool: "edit_file", input: { path: "src/main.ts" }, verdict: "allow", rule: "", risk: "medium" },
    ],
    files: [],
    details: {},
    ...change,
  };
}

/** A ledger of `count` records, as the lines of its file. */
export function chain(
  count: number,
  signer: Signer,
  options: { preamble?: string; root?: string; entries?: (seq: number) => LedgerEntry } = {},
): SealedRecord[] {
  const { preamble = "", root = workspaceRoot, entries = (seq) => entry({ turnId: `turn-${seq}` }) } = options;
  const genesis = {
    workspace: workspaceIdOf(root),
    preamble_bytes: Buffer.byteLength(preamble),
    preamble_sha256: sha256Hex(preamble),
  };
  const records: SealedRecord[] = [];
  for (let seq = 1; seq <= count; seq++) {
    const previous = records.at(-1);
    const place: RecordPosition = previous === undefined ? { seq: 1, genesis } : { seq, previousHash: previous.hash };
    records.push(sealRecord(entries(seq), place, signer, { salt }));
  }
  return records;
}
