import type { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { textOf } from "../database/row.ts";
import type { LedgerSigner } from "../ledger/ledger-key.ts";

/** Makes the signer use the newest key named in the store. */
export function useKeyInForce(signer: LedgerSigner, connection: SqliteConnection): void {
  const hasKeys = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'ledger_keys'").get() !== undefined;
  const row = hasKeys
    ? connection.prepare("SELECT key_id FROM ledger_keys ORDER BY number DESC LIMIT 1").get()
    : undefined;
  if (row !== undefined) signer.use(textOf(row, "key_id"));
}
