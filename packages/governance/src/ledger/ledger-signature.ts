import { digestOf } from "@gennai/protocol/digest";
import * as z from "zod";

/** Signs for the ledger. Ed25519; the key lives outside the workspace. */
export interface Signer {
  /** Names the public key: the first 16 hex digits of the SHA-256 of its SPKI. */
  readonly keyId: string;
  sign(message: Uint8Array): Uint8Array;
}

/** A key that comes after the one in use, at the moment of the hand-over. */
export interface NextKey extends Signer {
  /** SPKI, DER, base64. */
  readonly publicKey: string;
}

/** Where a key is handed over: what both keys sign, so that neither record nor key serves in another place. */
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
   * A verifier of one more key, given as SPKI (DER, base64), and what that key is called; undefined for what is no Ed25519
   * key. Without it no hand-over can be followed.
   */
  readonly learn?: (publicKey: string) => { readonly keyId: string; readonly verifier: Verifier } | undefined;
}

/**
 * The newest record as last seen outside the workspace. A chain cannot see its own tail cut off; this can.
 * It may lag behind the ledger (a crash), it is never ahead of it.
 */
export interface SignedHead {
  /** SHA-256 of the workspace's root path, lower-case hex. */
  readonly workspace: string;
  readonly seq: number;
  readonly hash: string;
  readonly key_id: string;
  /** Base64. */
  readonly signature: string;
}

export const headSchema: z.ZodType<SignedHead> = z.strictObject({
  workspace: z.string(),
  seq: z.number().int().nonnegative(),
  hash: z.string(),
  key_id: z.string(),
  signature: z.string(),
});

/** What is signed of a record: its hash, marked as one so that no signature serves two purposes. */
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

/** What the new key signs of a hand-over; the old one signs the record. */
export function handOverMessage(place: KeyHandOver): Uint8Array {
  return new TextEncoder().encode(`gennai-ledger-key:${digestOf({ ...place })}`);
}

/** What is signed of a bundle: the digest of all of it but the signature. */
export function bundleMessage(digest: string): Uint8Array {
  return new TextEncoder().encode(`gennai-ledger-bundle:${digest}`);
}

/** What is signed of a record that goes along with a commit: the digest of all of it but the signature. */
export function noteMessage(digest: string): Uint8Array {
  return new TextEncoder().encode(`gennai-provenance-note:${digest}`);
}

/** What is signed of how far a whole store has come. */
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

/** undefined unless it is the one base64 form of 64 bytes: two texts must never stand for the same signature. */
export function decodeSignature(text: string): Uint8Array | undefined {
  // After 85 characters two bits are left of the last byte, and the four that follow them are zero: A, Q, g or w.
  if (!/^[A-Za-z0-9+/]{85}[AQgw]==$/.test(text)) return undefined;
  const characters = atob(text);
  const signature = new Uint8Array(characters.length);
  for (let at = 0; at < signature.length; at += 1) signature[at] = characters.charCodeAt(at);
  return signature;
}
