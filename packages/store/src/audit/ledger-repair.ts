import { existsSync } from "node:fs";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { StoreError } from "../database/store-error.ts";
import { openLedgerFile } from "../ledger/file/ledger-file.ts";
import type { LedgerLocation } from "../ledger/file/ledger-file-name.ts";
import { keepCopy, recoveredCopyPath } from "../ledger/file/ledger-mirror-file.ts";
import { openLedgers } from "../ledger/open-ledgers.ts";
import { verifyWorkspaceLedger, type WorkspaceLedgerReport } from "./ledger-verify.ts";

export interface LedgerRepair {
  readonly action: "nothing" | "cut_torn_line" | "rebuilt_from_store";
  /** Path of the copy of the old file; undefined if nothing was changed. */
  readonly backup?: string;
  /** Report after the repair. */
  readonly report: WorkspaceLedgerReport;
}

/**
 * Repairs what can be repaired without inventing anything: writes the file anew if the store has this workspace's records,
 * otherwise cuts a torn last line. Keeps a copy in the state directory first. Rejects with `StoreError` `not_repairable`, and
 * with `rolled_back` if only the file may have records that the store lost.
 */
export async function repairWorkspaceLedger(
  location: LedgerLocation & { readonly publicKeyFile?: string },
): Promise<LedgerRepair> {
  const stateDir = await prepareStateDirectory(location.stateDir);
  const own = { ...location, stateDir };
  const before = await verifyWorkspaceLedger(own);
  if (before.status === "ok") return { action: "nothing", report: before };

  const rebuilt = await rebuildFromStore(own);
  if (rebuilt !== undefined) {
    return { action: "rebuilt_from_store", backup: rebuilt, report: await verifyWorkspaceLedger(own) };
  }
  if (before.status !== "torn_last_line" || before.problem === undefined) {
    throw new StoreError(
      "not_repairable",
      `The store has no records of ${location.workspaceRoot}, and its file cannot be repaired without losing evidence (${before.status}): ${before.message}`,
    );
  }
  const backup = recoveredCopyPath(stateDir, location.workspaceRoot);
  const handle = await openLedgerFile(location.workspaceRoot, "write");
  try {
    await keepCopy(handle, backup);
    await handle.truncate(before.problem.offset);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { action: "cut_torn_line", backup, report: await verifyWorkspaceLedger(own) };
}

async function rebuildFromStore({ workspaceRoot, stateDir }: LedgerLocation): Promise<string | undefined> {
  // Opening the store would create a new, empty one.
  if (!existsSync(databaseFile(stateDir))) return undefined;
  using database = await StoreDatabase.open(databaseFile(stateDir));
  await using ledgers = await openLedgers(database, { stateDir, onWarning: () => {} });
  return await ledgers.mirror.rebuild(workspaceRoot);
}
