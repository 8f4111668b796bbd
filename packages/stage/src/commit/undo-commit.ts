import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hold, takeBack } from "@gennai/machine/change-set/carry-out";
import { releaseLocks, takeLocks } from "@gennai/machine/change-set/git-locks";
import { InTheWay } from "@gennai/machine/change-set/held-operation";
import { NotCommitted, type StageConflict } from "@gennai/machine/change-set/not-committed";
import {
  enterPhase,
  readJournal,
  removeJournal,
  rootOf,
  type SetJournal,
  seenIdentity,
  writeJournal,
} from "@gennai/machine/change-set/set-journal";
import { giveWay } from "@gennai/machine/entries/give-way";
import { identityOf, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { indexMeaning } from "@gennai/machine/git-data/git-index";
import pLimit from "p-limit";
import { removeOpen } from "../transaction/open-record.ts";
import { openTransaction, removeByName, removeTransaction, type Transaction } from "../transaction/transaction.ts";

/**
 * Restores the tree as it was before a commit, atomically. Throws `NotCommitted` (`stale_file`) if others made changes since
 * that would be lost.
 *
 * @returns false if there is no such commit, or its earlier files were deleted
 */
export function undoCommit(stateDir: string, id: string): Promise<boolean> {
  return oneAtATime(() => undo(stateDir, id));
}

/** Gives up the way back, and its space on disk. */
export function forgetCommit(stateDir: string, id: string): Promise<void> {
  return oneAtATime(() => forget(stateDir, id));
}

/** One undo or forget at a time: the second caller for the same commit waits, and then finds none. */
const oneAtATime = pLimit(1);

async function undo(stateDir: string, id: string): Promise<boolean> {
  const transaction = openTransaction(stateDir, id);
  const written = transaction === undefined ? undefined : readJournal(transaction.directory);
  if (transaction === undefined || written?.phase !== "committed") return false;
  const journal = withRefreshedIndexes(transaction, written.journal);
  const conflicts: StageConflict[] = [];
  for (const operation of journal.operations) {
    await giveWay();
    try {
      using held = hold(transaction, journal, operation);
      await held.refuseTouched();
    } catch (error) {
      const reason = error instanceof InTheWay ? error.message : "it cannot be reached any more";
      conflicts.push({ root: rootOf(transaction, operation).path, path: operation.path, reason: `${reason} since` });
    }
  }
  if (conflicts.length > 0) throw new NotCommitted("stale_file", conflicts);
  if (journal !== written.journal) await writeJournal(transaction, "committed", journal);
  await enterPhase(transaction, "committed", "undoing");
  try {
    takeLocks(transaction, journal.locks);
  } catch (error) {
    await enterPhase(transaction, "undoing", "committed");
    throw error;
  }
  await takeBack(transaction, journal);
  releaseLocks(transaction, journal.locks);
  await removeJournal(transaction, "undoing");
  await removeTransaction(transaction);
  return true;
}

/** Git rewrites its index whenever it looks at files: an index with the same meaning counts as the committed one. */
function withRefreshedIndexes(transaction: Transaction, journal: SetJournal): SetJournal {
  let isChanged = false;
  const operations = journal.operations.map((operation) => {
    const { path, after, meaning } = operation;
    if (after === null || "sha256" in after || meaning === undefined) return operation;
    const place = join(rootOf(transaction, operation).path, path);
    const stat = statIfPresent(place);
    if (stat?.isFile() !== true || stat.ino === BigInt(after.inode)) return operation;
    if (indexMeaning(readFileSync(place)) !== meaning) return operation;
    isChanged = true;
    return { ...operation, after: seenIdentity({ ...identityOf(stat), type: "file" }) };
  });
  return isChanged ? { ...journal, operations } : journal;
}

async function forget(stateDir: string, id: string): Promise<void> {
  const transaction = openTransaction(stateDir, id);
  if (transaction === undefined) return removeByName(stateDir, id);
  removeOpen(transaction.directory);
  await removeJournal(transaction, "committed");
  await removeTransaction(transaction);
}
