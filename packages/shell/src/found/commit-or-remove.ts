import { ToolFailure } from "@gennai/governance/tool-error";
import { NotCommitted } from "@gennai/machine/change-set/not-committed";
import { commit } from "@gennai/stage/commit/commit";
import type { Observation, StageEffect } from "@gennai/stage/observe/effect";
import { removeTransaction, type Transaction } from "@gennai/stage/transaction/transaction";

/**
 * Commits the effects. Throws `ToolFailure` if that is impossible: the tree is then as before, and the transaction is removed.
 * After any other error, entries taken from the tree may be in the transaction, which stays for the next start.
 */
export async function commitOrRemove(
  transaction: Transaction,
  observation: Observation,
  kept: readonly StageEffect[],
): Promise<void> {
  try {
    await commit(transaction, observation, kept);
  } catch (error) {
    if (!(error instanceof NotCommitted)) throw error;
    await removeTransaction(transaction);
    throw notKept(error);
  }
}

function notKept(error: NotCommitted): ToolFailure {
  return new ToolFailure(error.code, error.message, {
    failureClass: "partial_execution",
    hint: "Look at the files again, then run the command again.",
    retryable: true,
    cause: error,
  });
}
