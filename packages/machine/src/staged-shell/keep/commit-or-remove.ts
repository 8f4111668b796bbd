import { ToolFailure } from "@gennai/governance/tool-error";
import { NotCommitted } from "../../change-set/not-committed.ts";
import { commit } from "../../stage/commit/commit.ts";
import type { Observation, StageEffect } from "../../stage/observe/effect.ts";
import { removeTransaction, type Transaction } from "../../stage/transaction/transaction.ts";

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
