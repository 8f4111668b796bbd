import { hasAbandonedSets, type RecoveredSet, recoverFileSets } from "@gennai/machine/change-set/file-sets";
import { aloneWithCommits } from "@gennai/stage/commit/commit-lock";
import { recoverCommits } from "@gennai/stage/commit/recover-commits";
import { forgetCommit } from "@gennai/stage/commit/undo-commit";
import { forgetOldWaysBack, hasWayBack } from "@gennai/stage/commit/way-back";
import { transactionNames } from "@gennai/stage/transaction/transaction";

/**
 * Ends the changes that processes which died left behind, of commands and of file tools, before anything is changed or staged;
 * `stuck` ones are tried again at the next start.
 * @param stateDir as in `StagesOptions`
 */
export async function recoverChanges(stateDir: string): Promise<readonly RecoveredSet[]> {
  // With nothing to do, no lock is needed, and nothing is created in a directory that may be another version's.
  if (transactionNames(stateDir).length === 0 && !hasAbandonedSets(stateDir)) return [];
  return aloneWithCommits(stateDir, async () => {
    const commits = await recoverCommits(stateDir);
    // Like those of a command that ended, earlier files stay only where they are the way back.
    for (const { id, state } of commits) {
      if ((state === "finished" || state === "kept") && !hasWayBack(stateDir, id)) await forgetCommit(stateDir, id);
    }
    await forgetOldWaysBack(stateDir, Date.now());
    return [...commits, ...(await recoverFileSets(stateDir))];
  });
}
