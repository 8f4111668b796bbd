import { StoreDatabase } from "./database.ts";
import { integerOf, textOf } from "./row.ts";
import { databaseFile } from "./store.ts";
import { storeErrorOf } from "./store-error.ts";

/** Records of a workspace's ledger after a seq, in order, at most `limit`, as they stand in its file. Throws `StoreError`. */
export function readLedgerRecords(
  stateDir: string,
  workspaceRoot: string,
  after: number,
  limit: number,
): readonly { readonly seq: number; readonly json: string }[] {
  const file = databaseFile(stateDir);
  const connection = StoreDatabase.openReadOnly(file);
  if (connection === undefined) return [];
  try {
    return connection
      .prepare(
        `SELECT seq, line FROM ledger
         WHERE workspace = (SELECT number FROM workspaces WHERE root = ?) AND seq > ? ORDER BY seq LIMIT ?`,
      )
      .all(workspaceRoot, after, limit)
      .map((row) => ({ seq: integerOf(row, "seq"), json: textOf(row, "line") }));
  } catch (error) {
    throw storeErrorOf(error, file);
  } finally {
    connection.close();
  }
}
