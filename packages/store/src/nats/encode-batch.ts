import { randomBytes } from "node:crypto";
import { sealRecord } from "@gennai/governance/ledger/ledger-record";
import type { LogBatch, LogPlace } from "../log/session-log.ts";
import { decodeMessage, encodeMessage, type SessionMessage } from "./log-message.ts";

/**
 * A batch as the payload of its message. Its records get their salts here, so that every replica seals the same. Throws where
 * one could not be sealed: no replica could go past such a message.
 */
export function encodeBatch(batch: LogBatch, expected: LogPlace, toolVersion: string): Uint8Array {
  const message: SessionMessage = {
    kind: "batch",
    seq: expected.seq,
    epoch: expected.epoch,
    events: [...batch.events],
    ledger: batch.ledger.map((entry) => ({ entry, salt: randomBytes(16).toString("hex") })),
    spentTokens: [...(batch.spentTokens ?? [])],
    toolVersion,
  };
  assertSealable(message);
  const payload = encodeMessage(message);
  // As it will be read.
  if (batch.ledger.length > 0) assertSealable(decodeMessage(payload));
  return payload;
}

function assertSealable(message: SessionMessage): void {
  if (message.kind !== "batch") return;
  const signer = { keyId: "", sign: () => new Uint8Array(64) };
  for (const { entry, salt } of message.ledger) sealRecord(entry, { seq: 2, previousHash: "" }, signer, { salt });
}
