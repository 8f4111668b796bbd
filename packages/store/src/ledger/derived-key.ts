import { createPrivateKey, hkdfSync } from "node:crypto";
import { readPrivateFile } from "@gennai/machine/private-file";
import { ledgerKeyFile, openLedgerSigner } from "./ledger-key.ts";

/**
 * 32 bytes that only holders of this state directory's ledger key can compute; they differ for each purpose and name. Rejects
 * with `StoreError` or `UnsafeFileError`.
 */
export async function derivedKey(stateDir: string, purpose: string, name: string): Promise<Buffer> {
  // Creates the key on first use, and checks that it is private.
  await openLedgerSigner(stateDir);
  const { d } = createPrivateKey(await readPrivateFile(ledgerKeyFile(stateDir))).export({ format: "jwk" });
  if (d === undefined) throw new TypeError("The ledger key is no Ed25519 key.");
  return Buffer.from(hkdfSync("sha256", Buffer.from(d, "base64url"), purpose, name, 32));
}
