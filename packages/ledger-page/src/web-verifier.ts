import type { Verifier } from "@gennai/governance/ledger/ledger-signature";
import { sha256Hex } from "@gennai/protocol/digest";

/** What every Ed25519 public key begins with as SPKI in DER; 32 bytes of the key follow. */
const prefix = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00] as const;
const keyBytes = 32;

/** Knows the Ed25519 keys of a text of SPKI PEM blocks, and checks signatures with the browser's own cryptography. Throws `Error`. */
export function webVerifier(pem: string): Verifier {
  const keys = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [, base64 = ""] of pem.matchAll(/-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----/g)) {
    const der = derOf(base64.replace(/\s+/g, ""));
    if (der !== undefined) keys.set(keyIdOf(der), der);
  }
  if (keys.size === 0) throw new Error("No Ed25519 public key was found: use the signer's .pub file.");
  return verifierOf(keys);
}

/** Rejects with an `Error` that says what to do where the browser cannot check such signatures. */
export async function checkBrowser(): Promise<void> {
  const hint = "Use a newer browser, or `gennai ledger verify --bundle`.";
  if (globalThis.crypto?.subtle === undefined) {
    throw new Error(`This browser offers no cryptography to a page that is opened from a file. ${hint}`);
  }
  try {
    // RFC 8032, test 1.
    const key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    const signature =
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";
    const der = new Uint8Array([...prefix, ...bytesOfHex(key)]);
    const verifier = verifierOf(new Map([["vector", der]]));
    if (!(await verifier.verify("vector", new Uint8Array(), new Uint8Array(bytesOfHex(signature))))) throw new Error();
  } catch (cause) {
    throw new Error(`This browser cannot check Ed25519 signatures. ${hint}`, { cause });
  }
}

function verifierOf(keys: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): Verifier {
  const imported = new Map<string, Promise<CryptoKey>>();
  return {
    knows: (keyId) => keys.has(keyId),
    async verify(keyId, message, signature) {
      const der = keys.get(keyId);
      if (der === undefined) return false;
      const key = imported.get(keyId) ?? crypto.subtle.importKey("spki", der, "Ed25519", false, ["verify"]);
      imported.set(keyId, key);
      return crypto.subtle.verify("Ed25519", await key, new Uint8Array(signature), new Uint8Array(message));
    },
    learn(text) {
      const der = derOf(text);
      if (der === undefined) return undefined;
      const keyId = keyIdOf(der);
      return { keyId, verifier: verifierOf(new Map([[keyId, der]])) };
    },
  };
}

/** undefined for what is no Ed25519 public key, whatever it is. */
function derOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  let der: Uint8Array<ArrayBuffer>;
  try {
    der = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
  const isKey = der.length === prefix.length + keyBytes && prefix.every((byte, at) => der[at] === byte);
  return isKey ? der : undefined;
}

/** As `keyId` of a `Signer` says. */
function keyIdOf(der: Uint8Array): string {
  return sha256Hex(der).slice(0, 16);
}

function bytesOfHex(hex: string): readonly number[] {
  return (hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16));
}
