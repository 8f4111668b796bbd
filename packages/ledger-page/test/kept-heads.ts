import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { presentHead } from "@gennai/governance/ledger/anchor/check-anchors";
import { checkpointText } from "@gennai/governance/ledger/anchor/checkpoint";
import {
  formatNote,
  type NoteKeyKind,
  noteKeyId,
  signedBytes,
  verifierKey,
  withTime,
} from "@gennai/governance/ledger/anchor/signed-note";
import { publicKeysOf } from "@gennai/governance/ledger/public-keys";
import { bundleRecords } from "@gennai/governance/ledger/verify-bundle";
import type { TestKey } from "./made-bundle.ts";

/** 2026-01-03 00:00 UTC, in seconds. */
const keptAt = Date.UTC(2026, 0, 3) / 1000;

/** A head of a bundle's ledger as `gennai ledger anchor` signs it, and as somebody else keeps it. */
export async function keptHead(key: TestKey, bundle: string, others: readonly Witness[] = []): Promise<string> {
  const head = await presentHead(bundleRecords(() => [new TextEncoder().encode(bundle)]));
  const raw = publicKeysOf(key.pem)[0]?.raw;
  if (head === undefined || raw === undefined) throw new Error("There is no head, or no key.");
  const text = checkpointText(head);
  const by = (
    name: string,
    kind: NoteKeyKind,
    time: number,
    signer: (message: Uint8Array) => Uint8Array,
    own = raw,
  ) => ({
    name,
    keyId: noteKeyId({ name, kind, publicKey: own }),
    signature: withTime(signer(signedBytes(text, kind, BigInt(time))), kind, BigInt(time)),
  });
  return formatNote({
    text,
    signatures: [
      by(head.origin, "note", 0, key.sign),
      by(head.origin, "cosignature", keptAt, key.sign),
      ...others.map(({ name, time, sign: signer, publicKey }) => by(name, "cosignature", time, signer, publicKey)),
    ],
  });
}

/** Of somebody else, who says when they saw a head. */
export interface Witness {
  readonly name: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** As others are told it: `NAME+KEYID+BASE64`. */
  readonly verifierKey: string;
  sign(message: Uint8Array): Uint8Array;
}

export function testWitness(name: string, time: number): Witness {
  const pair = generateKeyPairSync("ed25519");
  const publicKey = rawOf(pair.publicKey);
  return {
    name,
    time,
    publicKey,
    verifierKey: verifierKey({ name, kind: "cosignature", publicKey }),
    sign: (message) => sign(null, message, pair.privateKey),
  };
}

function rawOf(key: KeyObject): Uint8Array<ArrayBuffer> {
  return new Uint8Array(key.export({ type: "spki", format: "der" }).subarray(-32));
}
