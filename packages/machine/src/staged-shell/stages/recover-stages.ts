import { aloneWithCommits } from "../../stage/commit/commit-lock.ts";
import { type RecoveredCommit, recoverCommits } from "../../stage/commit/recover-commits.ts";
import { forgetCommit } from "../../stage/commit/undo-commit.ts";
import { forgetOldWaysBack, hasWayBack } from "../../stage/commit/way-back.ts";
import { transactionNames } from "../../stage/transaction/transaction.ts";

/**
 * Ends what processes that died left behind, before stages are made; `stuck` ones are tried again at the next start.
 * @param stateDir as in `StagesOptions`
 */
export async function recoverStages(stateDir: string): Promise<readonly RecoveredCommit[]> {
  // Without transactions, no lock is needed, and nothing is created in a directory that may be another version's.
  if (transactionNames(stateDir).length === 0) return [];
  return aloneWithCommits(stateDir, async () => {
    const recovered = await recoverCommits(stateDir);
    // Like a command that ended, it is undone by the checkpoint around it; only what a person kept without a session stays
    // undoable by name.
    for (const { id, state } of recovered) {
      if ((state === "finished" || state === "kept") && !hasWayBack(stateDir, id)) await forgetCommit(stateDir, id);
    }
    await forgetOldWaysBack(stateDir, Date.now());
    return recovered;
  });
}
