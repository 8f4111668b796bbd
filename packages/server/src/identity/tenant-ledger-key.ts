import { createPrivateKey } from "node:crypto";
import { link, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "@gennai/machine/system-error";
import { syncDirectory } from "@gennai/machine/workspace/files/sync-directory";
import { derivedKey } from "@gennai/store/ledger/derived-key";
import { ledgerKeyFile } from "@gennai/store/ledger/ledger-key";

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Gives a new tenant its own ledger key, derived from the server's: no tenant's key reveals another's, and all replicas, which
 * share the server's key, derive the same. An existing key is kept.
 */
export async function ensureTenantLedgerKey(
  serverStateDir: string,
  tenant: { readonly name: string; readonly stateDir: string },
): Promise<void> {
  const file = ledgerKeyFile(tenant.stateDir);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const seed = await derivedKey(serverStateDir, "gennai tenant ledger key", tenant.name);
  const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" });
  const draft = `${file}.${process.pid}.derived`;
  try {
    await writeFile(draft, key.export({ format: "pem", type: "pkcs8" }), { mode: 0o600, flag: "w" });
    // Unlike a rename, a link never replaces the key that is there.
    await link(draft, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
