import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical-json.ts";

/** SHA-256, lower-case hex; text is hashed as UTF-8. */
export function sha256Hex(data: Uint8Array | string): string {
  return bytesToHex(sha256(typeof data === "string" ? utf8ToBytes(data) : data));
}

/** SHA-256 over the canonical JSON of a value, lower-case hex. Throws `CanonicalJsonError` for what is not JSON. */
export function digestOf(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

/** SHA-256 of bytes that arrive in pieces. `hex` may be asked at any point and does not end it. */
export interface RunningSha256 {
  update(bytes: Uint8Array): void;
  /** Lower-case hex of everything so far. */
  hex(): string;
}

export function runningSha256(): RunningSha256 {
  const hash = sha256.create();
  return {
    update: (bytes) => void hash.update(bytes),
    hex: () => bytesToHex(hash.clone().digest()),
  };
}
