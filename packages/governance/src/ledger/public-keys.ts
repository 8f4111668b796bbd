import { sha256Hex } from "@gennai/protocol/digest";

/** Prefix of every Ed25519 public key as SPKI in DER; 32 bytes of the key follow. */
const prefix = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00] as const;
const keyBytes = 32;

/** The Ed25519 public key of a ledger. */
export interface LedgerPublicKey {
  /** As `Signer` names it. */
  readonly keyId: string;
  /** SPKI, DER. */
  readonly spki: Uint8Array<ArrayBuffer>;
  /** The 32 bytes of RFC 8032. */
  readonly raw: Uint8Array<ArrayBuffer>;
}

/** The keys in a text with SPKI PEM blocks; other kinds are left out. */
export function publicKeysOf(pem: string): readonly LedgerPublicKey[] {
  const blocks = pem.matchAll(/-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----/g);
  return [...blocks].flatMap(([, base64 = ""]) => publicKeyOf(base64.replace(/\s+/g, "")) ?? []);
}

/** undefined for what is no Ed25519 public key, whatever it is. @param base64 SPKI, DER */
export function publicKeyOf(base64: string): LedgerPublicKey | undefined {
  let spki: Uint8Array<ArrayBuffer>;
  try {
    spki = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
  const isKey = spki.length === prefix.length + keyBytes && prefix.every((byte, at) => spki[at] === byte);
  return isKey ? { keyId: sha256Hex(spki).slice(0, 16), spki, raw: spki.slice(prefix.length) } : undefined;
}

/** The same key as SPKI in DER. @param raw 32 bytes */
export function spkiOf(raw: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...prefix, ...raw]);
}
