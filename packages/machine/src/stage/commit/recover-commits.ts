import { errorMessage } from "@gennai/protocol/error-message";
import { SessionLayer } from "../layer/session-layer.ts";
import { enterPhase, readJournal, removeJournal } from "../transaction/commit-journal.ts";
import { NotCommitted } from "../transaction/stage-error.ts";
import {
  abandonedTransactions,
  openTransaction,
  removeRun,
  removeTransaction,
  removeUnbegun,
  type Transaction,
} from "../transaction/transaction.ts";
import { canCarryOut, carryOut, hold, takeBack } from "./carry-out.ts";
import { releaseLocks } from "./git-locks.ts";

export interface RecoveredCommit {
  readonly id: string;
  /**
   * `removed`: it had not begun to change the tree. `finished`: it had, and is complete now. `taken_back`: others were in the
   * way, or it was being undone. `kept`: it was complete before, and can be undone. `stuck`: it could be neither completed nor
   * rolled back, nothing more was touched, and the next start tries again.
   */
  readonly state: "removed" | "finished" | "taken_back" | "kept" | "stuck";
  /** Why a commit is `stuck`. */
  readonly reason?: string;
}

/**
 * Completes or rolls back what processes that died left behind. Call it at start, before anything is staged; the mounts of such
 * processes are gone already. Afterwards every tree is as before or as after a commit, with its user's later changes.
 */
export async function recoverCommits(stateDir: string): Promise<readonly RecoveredCommit[]> {
  const recovered: RecoveredCommit[] = [];
  for (const id of abandonedTransactions(stateDir)) {
    try {
      recovered.push({ id, state: await recover(stateDir, id) });
    } catch (error) {
      recovered.push({ id, state: "stuck", reason: errorMessage(error) });
    }
  }
  return recovered;
}

async function recover(stateDir: string, id: string): Promise<RecoveredCommit["state"]> {
  const transaction = openTransaction(stateDir, id);
  const written = transaction === undefined ? undefined : readJournal(transaction.directory);
  if (transaction === undefined || written === undefined) {
    await removeUnbegun(stateDir, id);
    return "removed";
  }
  const { phase, journal } = written;
  if (phase === "committed") {
    releaseLocks(transaction, journal.locks);
    await SessionLayer.adopt(stateDir, transaction, { late: true });
    await removeRun(transaction);
    return "kept";
  }
  if (phase === "committing") {
    const isUntried = journal.operations.every((operation) => {
      using held = hold(transaction, journal, operation);
      return held.isUntried();
    });
    if (isUntried) return end(transaction, journal, "removed");
    if (await canCarryOut(transaction, journal)) return finish(stateDir, transaction, journal);
  }
  await takeBack(transaction, journal);
  return end(transaction, journal, "taken_back");
}

type Journal = Parameters<typeof carryOut>[1];

async function finish(stateDir: string, transaction: Transaction, journal: Journal): Promise<RecoveredCommit["state"]> {
  try {
    await carryOut(transaction, journal);
  } catch (error) {
    if (!(error instanceof NotCommitted)) throw error;
    await removeTransaction(transaction);
    return "taken_back";
  }
  await enterPhase(transaction, "committing", "committed");
  releaseLocks(transaction, journal.locks);
  await SessionLayer.adopt(stateDir, transaction, { late: true });
  await removeRun(transaction);
  return "finished";
}

async function end<State>(transaction: Transaction, journal: Journal, state: State): Promise<State> {
  releaseLocks(transaction, journal.locks);
  // These first, so that after a kill in between no journal says that a commit had begun.
  for (const phase of ["committing", "undoing"] as const) await removeJournal(transaction, phase);
  await removeTransaction(transaction);
  return state;
}
