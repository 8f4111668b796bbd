import type { RecoveredSet } from "@gennai/machine/change-set/file-sets";
import { recoverSet } from "@gennai/machine/change-set/recover-set";
import { phaseOf, readJournal } from "@gennai/machine/change-set/set-journal";
import { errorMessage } from "@gennai/protocol/error-message";
import { SessionLayer } from "../layer/session-layer.ts";
import { isOpen, removeOpen } from "../transaction/open-record.ts";
import {
  abandonedTransactions,
  openTransaction,
  removeByName,
  removeRun,
  removeTransaction,
  transactionDirectory,
} from "../transaction/transaction.ts";
import { hasWayBack } from "./way-back.ts";

/**
 * Completes or rolls back what processes that died left behind. Call it at start, before anything is staged; the mounts of such
 * processes are gone already. Afterwards every tree is as before or as after a commit, with its user's later changes. Those that
 * are `finished` or `kept` can be undone.
 */
export async function recoverCommits(stateDir: string): Promise<readonly RecoveredSet[]> {
  const recovered: RecoveredSet[] = [];
  for (const id of abandonedTransactions(stateDir)) {
    try {
      recovered.push({ id, state: await recover(stateDir, id) });
    } catch (error) {
      recovered.push({ id, state: "stuck", reason: errorMessage(error) });
    }
  }
  return recovered;
}

async function recover(stateDir: string, id: string): Promise<RecoveredSet["state"]> {
  const transaction = openTransaction(stateDir, id);
  const written = transaction === undefined ? undefined : readJournal(transaction.directory);
  if (transaction === undefined || written === undefined) {
    const isComplete = phaseOf(transactionDirectory(stateDir, id)) === "committed";
    // The disk of its earlier files may come back.
    if (isComplete && hasWayBack(stateDir, id)) return "kept";
    await removeByName(stateDir, id);
    return "removed";
  }
  // Nobody runs again what an open one holds.
  const state = await recoverSet(transaction, written, { isLast: isOpen(transaction.directory) });
  if (state === "removed" || state === "taken_back") {
    removeOpen(transaction.directory);
    await removeTransaction(transaction);
  } else {
    await SessionLayer.adopt(stateDir, transaction, { late: true });
    await removeRun(transaction);
  }
  return state;
}
