import type { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { textOf } from "../../database/row.ts";

/** A store's database, open for reading at least. */
export type LedgerReader = Pick<SqliteConnection, "prepare">;

export function hashAt(database: LedgerReader, workspace: number, seq: number): string | undefined {
  const row = database.prepare("SELECT hash FROM ledger WHERE workspace = ? AND seq = ?").get(workspace, seq);
  return row && textOf(row, "hash");
}
