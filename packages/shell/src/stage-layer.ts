import { copyLayer } from "@gennai/stage/layer/copy-layer";
import type { SessionLayer } from "@gennai/stage/layer/session-layer";
import { removeTransaction } from "@gennai/stage/transaction/transaction";
import { changeOnStage, type StageContext } from "./change-on-stage.ts";
import { commitOrRemove } from "./found/commit-or-remove.ts";
import type { FoundEdits } from "./found/found-edits.ts";
import type { FoundEffects } from "./found/found-effects.ts";
import { settleCommit } from "./found/keep-effects.ts";
import { keepWayBack } from "./found/keep-way-back.ts";

/** Trees of a layer as they would be in the workspace. The holder keeps or drops it. */
export interface StagedLayer extends Omit<FoundEffects, "edits"> {
  /** What is needed to undo it, as edits. Call it before it is kept. */
  edits(): FoundEdits;
  /**
   * Writes the trees to the workspace, and removes them from the layer. Throws `ToolFailure` `stale_file` if others changed the
   * same files meanwhile.
   */
  keep(): Promise<void>;
  drop(): Promise<void>;
}

/**
 * Puts trees of a session's layer onto a stage over the workspace, and says what that changes. Throws `StageUnavailable`.
 * @param paths of trees that the layer has
 */
export async function stageLayer(
  layer: SessionLayer,
  paths: readonly string[],
  place: StageContext,
): Promise<StagedLayer> {
  const { transaction, observation, kept, found } = await changeOnStage(place, async (merged) => {
    for (const path of paths) await copyLayer(layer, merged, path);
  });
  return {
    ...found,
    edits: () => found.edits(kept),
    keep: async () => {
      const workspace = place.workspaceRoot;
      keepWayBack(transaction, kept, found.edits(kept).files, { workspace, session: layer.session });
      await commitOrRemove(transaction, observation, kept);
      // The trees are in the workspace now. Without this, they would be dropped later as changed by others.
      await Promise.allSettled([layer.drop(paths), settleCommit(place.stages.stateDir, transaction.id)]);
    },
    drop: () => removeTransaction(transaction),
  };
}
