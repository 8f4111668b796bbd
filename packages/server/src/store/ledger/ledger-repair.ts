import { existsSync } from "node:fs";
import { databaseFile, StoreDatabase } from "../database.ts";
import { prepareStateDirectory } from "../state-directory.ts";
import { StoreError } from "../store-error.ts";
import { openLedgerFile } from "./ledger-file.ts";
import { openLedgerSigner } from "./ledger-key.ts";
import type { LedgerLocation } from "./ledger-location.ts";
import { LedgerMirror } from "./ledger-mirror.ts";
import { keepCopy, recoveredCopyPath } from "./ledger-mirror-file.ts";
import { LedgerTable } from "./ledger-table.ts";
import { verifyWorkspaceLedger, type WorkspaceLedgerReport } from "./ledger-verify.ts";

export interface LedgerRepair {
  readonly action: "nothing" | "cut_torn_line" | "rebuilt_from_store";
  /** Where the file as it was is kept; undefined when nothing was changed. */
  readonly backup?: string;
  /** After the repair. */
  readonly report: WorkspaceLedgerReport;
}

/**
 * Mends what can be mended without inventing anything: writes the file anew when the store has this workspace's records,
 * else cuts a torn last line. Keeps a copy in the state directory first. Rejects with `StoreError` `not_repairable`.
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
      `The store has no records of ${location.workspaceRoot}, and its file cannot be mended without losing evidence (${before.status}): ${before.message}`,
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
  // Opening would make a new, empty store.
  if (!existsSync(databaseFile(stateDir))) return undefined;
  using database = await StoreDatabase.open(databaseFile(stateDir));
  const signer = await openLedgerSigner(stateDir);
  const table = new LedgerTable(database, { signer, onChange: () => {} });
  const mirror = new LedgerMirror(database, table, { stateDir, signer, onWarning: () => {} });
  return await mirror.rebuild(workspaceRoot);
}
