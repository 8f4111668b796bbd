import { base64Encode } from "@bufbuild/protobuf/wire";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

/** Where a server is asked to prove that it knows the token: `POST {"nonce"}`, answered by `{"proof"}`. */
export const challengePath = "/challenge";

/** What a nonce looks like: base64url of 16 to 96 bytes. */
export const nonceSyntax = /^[A-Za-z0-9_-]{22,128}$/;

/** What a proof looks like: base64url of 32 bytes. */
export const proofSyntax = /^[A-Za-z0-9_-]{43}$/;

/**
 * Proves that its maker knows the token, without showing it: the HMAC-SHA256 with the token as key over
 * `gennai-server-proof:<host>:<nonce>`, base64url. `host` is the Host the client sent, so that a squatter cannot pass the
 * challenge on to a real server on another port: that one would sign its own name.
 */
export function serverProof(token: string, host: string, nonce: string): string {
  const text = `gennai-server-proof:${host.toLowerCase()}:${nonce}`;
  return base64Encode(hmac(sha256, utf8ToBytes(token), utf8ToBytes(text)), "url");
}
