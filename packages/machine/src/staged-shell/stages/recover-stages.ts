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
  // Then there is nothing to be alone with, and nothing is made in a directory that may be another version's.
  if (transactionNames(stateDir).length === 0) return [];
  return aloneWithCommits(stateDir, async () => {
    const recovered = await recoverCommits(stateDir);
    // As after a command that ended: the checkpoint around it is the way back, but for what a person kept without a session.
    for (const { id, state } of recovered) {
      if ((state === "finished" || state === "kept") && !hasWayBack(stateDir, id)) await forgetCommit(stateDir, id);
    }
    await forgetOldWaysBack(stateDir, Date.now());
    return recovered;
  });
}
