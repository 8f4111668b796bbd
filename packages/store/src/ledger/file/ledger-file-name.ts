import { lstatSync } from "node:fs";
import { join } from "node:path";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import type { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { hasCode } from "@gennai/machine/system-error";
import { databaseFile, StoreDatabase } from "../../database/database.ts";
import { textOf } from "../../database/row.ts";

/** The file of a workspace's ledger, unless another state directory keeps its own there. */
export const usualLedgerFileName = "agent_trace.jsonl";

/** Absolute. */
export function usualLedgerPath(workspaceRoot: string): string {
  return join(workspaceRoot, ledgerDirectory, usualLedgerFileName);
}

/** The file of a ledger beside the usual one, by the hash of its first record, which no other ledger has. */
export function ownLedgerFileName(firstHash: string): string {
  return `agent_trace.${firstHash.slice(0, 12)}.jsonl`;
}

export function isLedgerFileName(name: string): boolean {
  return /^agent_trace(?:\.[0-9a-f]{12})?\.jsonl$/.test(name);
}

/** The file of the ledger that begins with this record: its own, if there is one. */
export function ledgerFileNameIn(workspaceRoot: string, firstHash: string | undefined): string {
  if (firstHash === undefined) return usualLedgerFileName;
  const own = ownLedgerFileName(firstHash);
  try {
    lstatSync(join(workspaceRoot, ledgerDirectory, own));
    return own;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR") || hasCode(error, "ELOOP")) return usualLedgerFileName;
    throw error;
  }
}

/** Hash of the first record that a store has of a workspace. */
export function firstHashOf(database: LedgerReader, workspaceRoot: string): string | undefined {
  const row = database
    .prepare("SELECT hash FROM ledger JOIN workspaces ON number = workspace WHERE root = ? AND seq = 1")
    .get(workspaceRoot);
  return row && textOf(row, "hash");
}

/** Absolute path of the file that holds this state directory's ledger of the workspace, whether it is there or not. */
export function ledgerPathOf({ stateDir, workspaceRoot }: LedgerLocation): string {
  using database = StoreDatabase.openReadOnly(databaseFile(stateDir));
  const name = ledgerFileNameIn(workspaceRoot, database && firstHashOf(database, workspaceRoot));
  return join(workspaceRoot, ledgerDirectory, name);
}

/** Which ledger of which store. */
export interface LedgerLocation {
  readonly stateDir: string;
  /** Real absolute path. */
  readonly workspaceRoot: string;
}

/** A store's database, open for reading at least. */
export type LedgerReader = Pick<SqliteConnection, "prepare">;

export function hashAt(database: LedgerReader, workspace: number, seq: number): string | undefined {
  const row = database.prepare("SELECT hash FROM ledger WHERE workspace = ? AND seq = ?").get(workspace, seq);
  return row && textOf(row, "hash");
}
