import { createPrivateKey, hkdfSync } from "node:crypto";
import { readPrivateFile } from "@gennai/machine/private-file";
import { ledgerKeyFile, openLedgerSigner } from "./ledger-key.ts";

/**
 * 32 bytes that anyone who has this state directory's ledger key can make, and nobody else; another purpose or name gives others.
 * Rejects with `StoreError` or `UnsafeFileError`.
 */
export async function derivedKey(stateDir: string, purpose: string, name: string): Promise<Buffer> {
  // Made on first use, and checked to be nobody else's.
  await openLedgerSigner(stateDir);
  const { d } = createPrivateKey(await readPrivateFile(ledgerKeyFile(stateDir))).export({ format: "jwk" });
  if (d === undefined) throw new TypeError("The ledger key is no Ed25519 key.");
  return Buffer.from(hkdfSync("sha256", Buffer.from(d, "base64url"), purpose, name, 32));
}
