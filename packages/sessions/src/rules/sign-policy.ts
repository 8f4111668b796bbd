import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { encodeSignature } from "@gennai/governance/ledger/ledger-signature";
import { parseSignable, policyMessage } from "@gennai/governance/limits/signed-policy";

/** A policy with its signature, as its file contains it. Throws `Error` for an invalid document or key. */
export function signPolicy(document: unknown, privateKeyPem: string): string {
  const checked = parseSignable(document);
  const privateKey = ed25519Key(privateKeyPem);
  const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const keyId = createHash("sha256").update(spki).digest("hex").slice(0, 16);
  const signature = encodeSignature(sign(null, policyMessage(checked, keyId), privateKey));
  return `${JSON.stringify({ ...checked, key_id: keyId, signature }, undefined, 2)}\n`;
}

function ed25519Key(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new Error("The key is not a private key in PEM form: make one with openssl genpkey -algorithm ed25519.", {
      cause,
    });
  }
  if (key.asymmetricKeyType !== "ed25519") {
    throw new Error("The key is not an Ed25519 key: make one with openssl genpkey -algorithm ed25519.");
  }
  return key;
}
