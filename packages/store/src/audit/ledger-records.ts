import { databaseFile, StoreDatabase } from "../database/database.ts";
import { integerOf, textOf } from "../database/row.ts";
import { storeErrorOf } from "../database/store-error.ts";

/** A record as written in the ledger's file. */
export interface StoredRecord {
  readonly seq: number;
  /** One line, without its line break. */
  readonly json: string;
}

/** Records of a workspace's ledger after a seq, in order, at most `limit`. Throws `StoreError`. */
export function readLedgerRecords(
  stateDir: string,
  workspaceRoot: string,
  after: number,
  limit: number,
): readonly StoredRecord[] {
  return selectRecords(stateDir, [workspaceRoot, after, limit], "seq > ? ORDER BY seq LIMIT ?");
}

/** The newest records before a seq, in order, at most `limit`. Throws `StoreError`. */
export function readNewestLedgerRecords(
  stateDir: string,
  workspaceRoot: string,
  before: number,
  limit: number,
): readonly StoredRecord[] {
  return selectRecords(stateDir, [workspaceRoot, before, limit], "seq < ? ORDER BY seq DESC LIMIT ?").toReversed();
}

function selectRecords(
  stateDir: string,
  values: readonly [workspaceRoot: string, bound: number, limit: number],
  which: string,
): readonly StoredRecord[] {
  const file = databaseFile(stateDir);
  using connection = StoreDatabase.openReadOnly(file);
  if (connection === undefined) return [];
  try {
    return connection
      .prepare(
        `SELECT seq, line FROM ledger
         WHERE workspace = (SELECT number FROM workspaces WHERE root = ?) AND ${which}`,
      )
      .all(...values)
      .map((row) => ({ seq: integerOf(row, "seq"), json: textOf(row, "line") }));
  } catch (error) {
    throw storeErrorOf(error, file);
  }
}
