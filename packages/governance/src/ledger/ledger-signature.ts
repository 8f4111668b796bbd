import { digestOf } from "@gennai/protocol/digest";
import * as z from "zod";

/** Signs for the ledger. Ed25519; the key lives outside the workspace. */
export interface Signer {
  /** Identifies the public key: the first 16 hex digits of the SHA-256 of its SPKI. */
  readonly keyId: string;
  sign(message: Uint8Array): Uint8Array;
}

/** A key that comes after the one in use, at the moment of the hand-over. */
export interface NextKey extends Signer {
  /** SPKI, DER, base64. */
  readonly publicKey: string;
}

/** A hand-over of keys: signed by both keys, so that neither record nor key is valid in another place. */
export interface KeyHandOver {
  readonly from: string;
  readonly to: string;
  readonly publicKey: string;
  readonly seq: number;
  readonly previousHash: string;
}

/** Checks signatures against the public keys it knows. */
export interface Verifier {
  /** False also when the key is not known; `knows` tells the two apart. */
  verify(keyId: string, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
  knows(keyId: string): boolean;
  /**
   * A verifier for another key, given as SPKI (DER, base64), and its id; undefined if it is no Ed25519 key. Without it,
   * hand-overs cannot be followed.
   */
  readonly learn?: (publicKey: string) => { readonly keyId: string; readonly verifier: Verifier } | undefined;
}

export const headSchema = z.strictObject({
  /** SHA-256 of the workspace's root path, lower-case hex. */
  workspace: z.string(),
  seq: z.number().int().nonnegative(),
  hash: z.string(),
  key_id: z.string(),
  /** Base64. */
  signature: z.string(),
});

/**
 * The newest record as last seen outside the workspace. A chain cannot see its own tail cut off; this can.
 * It may lag behind the ledger (a crash), it is never ahead of it.
 */
export type SignedHead = Readonly<z.infer<typeof headSchema>>;

/** The signed message of a record: its hash with a prefix, so that no signature is valid for two purposes. */
export function recordMessage(hash: string): Uint8Array {
  return new TextEncoder().encode(`gennai-ledger-record:${hash}`);
}

export function signHead(head: Pick<SignedHead, "workspace" | "seq" | "hash">, signer: Signer): SignedHead {
  return { ...head, key_id: signer.keyId, signature: encodeSignature(signer.sign(headMessage(head))) };
}

export async function isHeadGenuine(head: SignedHead, verifier: Verifier): Promise<boolean> {
  const signature = decodeSignature(head.signature);
  return signature !== undefined && (await verifier.verify(head.key_id, headMessage(head), signature));
}

/** The message of a hand-over that the new key signs; the old one signs the record. */
export function handOverMessage(place: KeyHandOver): Uint8Array {
  return new TextEncoder().encode(`gennai-ledger-key:${digestOf({ ...place })}`);
}

/** The signed message of a bundle: the digest of everything but the signature. */
export function bundleMessage(digest: string): Uint8Array {
  return new TextEncoder().encode(`gennai-ledger-bundle:${digest}`);
}

/** The signed message of a record attached to a commit: the digest of everything but the signature. */
export function noteMessage(digest: string): Uint8Array {
  return new TextEncoder().encode(`gennai-provenance-note:${digest}`);
}

/** The signed message about the progress of a whole store. */
export function markMessage(mark: { readonly store: string; readonly commits: number }): Uint8Array {
  return new TextEncoder().encode(`gennai-store-mark:${digestOf({ store: mark.store, commits: mark.commits })}`);
}

function headMessage(head: Pick<SignedHead, "workspace" | "seq" | "hash">): Uint8Array {
  const digest = digestOf({ workspace: head.workspace, seq: head.seq, hash: head.hash });
  return new TextEncoder().encode(`gennai-ledger-head:${digest}`);
}

export function encodeSignature(signature: Uint8Array): string {
  return btoa(String.fromCharCode(...signature));
}

/** Undefined unless it is the only base64 form of 64 bytes: two texts must never mean the same signature. */
export function decodeSignature(text: string): Uint8Array | undefined {
  // After 85 characters two bits are left of the last byte, and the four that follow them are zero: A, Q, g or w.
  if (!/^[A-Za-z0-9+/]{85}[AQgw]==$/.test(text)) return undefined;
  const characters = atob(text);
  const signature = new Uint8Array(characters.length);
  for (let at = 0; at < signature.length; at += 1) signature[at] = characters.charCodeAt(at);
  return signature;
}
