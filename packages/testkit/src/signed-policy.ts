import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { policyMessage } from "@gennai/governance/limits/signed-policy";

/**
 * Puts a policy into a configuration directory, which is made if it is missing, signed by a key that is trusted there.
 * @param keys of the policy, e.g. `{capabilities: ["read"]}`
 */
export async function writeSignedPolicy(
  configDir: string,
  keys: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ type: "spki", format: "der" });
  const keyId = createHash("sha256").update(spki).digest("hex").slice(0, 16);
  const times = { issued: "2026-01-01T00:00:00Z", expires: "2099-01-01T00:00:00Z" };
  const document = { gennai_policy: 1, name: "test", serial: 1, ...times, ...keys };
  const signature = sign(null, policyMessage(document, keyId), privateKey).toString("base64");
  await mkdir(configDir, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ ...document, key_id: keyId, signature });
  await writeFile(join(configDir, "policy.json"), text, { mode: 0o600 });
  await writeFile(join(configDir, "policy.pub"), publicKey.export({ type: "spki", format: "pem" }), { mode: 0o644 });
}
