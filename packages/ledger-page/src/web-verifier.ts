import type { Verifier } from "@gennai/governance/ledger/ledger-signature";
import { publicKeyOf, publicKeysOf, spkiOf } from "@gennai/governance/ledger/public-keys";

/** Knows the Ed25519 keys of a text of SPKI PEM blocks, and checks signatures with the browser's own cryptography. Throws `Error`. */
export function webVerifier(pem: string): Verifier {
  const keys = new Map(publicKeysOf(pem).map(({ keyId, spki }) => [keyId, spki]));
  if (keys.size === 0) throw new Error("No Ed25519 public key was found: use the signer's .pub file.");
  return verifierOf(keys);
}

/** Whether a key (32 bytes) signed a message; false also for what is no key. */
export async function isSigned(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  try {
    return await verifierOf(new Map([["key", spkiOf(publicKey)]])).verify("key", message, signature);
  } catch {
    return false;
  }
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
    const verifier = verifierOf(new Map([["vector", spkiOf(new Uint8Array(bytesOfHex(key)))]]));
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
      const found = publicKeyOf(text);
      return found && { keyId: found.keyId, verifier: verifierOf(new Map([[found.keyId, found.spki]])) };
    },
  };
}

function bytesOfHex(hex: string): readonly number[] {
  return (hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16));
}
