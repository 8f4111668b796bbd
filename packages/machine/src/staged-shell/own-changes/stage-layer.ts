import { forgetCommit } from "../../stage/commit/undo-commit.ts";
import { copyLayer } from "../../stage/layer/copy-layer.ts";
import type { SessionLayer } from "../../stage/layer/session-layer.ts";
import { removeTransaction } from "../../stage/transaction/transaction.ts";
import type { FoundEdit } from "../found/found-edits.ts";
import type { FoundEffects } from "../found/found-effects.ts";
import { commitOrRemove } from "../keep/commit-or-remove.ts";
import { changeOnStage, type StageContext } from "./change-on-stage.ts";

/** Trees of a layer as they would be in the workspace. The holder keeps or drops it. */
export interface StagedLayer extends Omit<FoundEffects, "edits"> {
  /** What is needed to take it back, as edits; undefined where edits do not say all of it. Before it is kept. */
  edits(): readonly FoundEdit[] | undefined;
  /**
   * Writes it to the workspace, and removes it from the layer. Throws `ToolFailure` `stale_file` if others changed the same
   * meanwhile.
   */
  keep(): Promise<void>;
  drop(): Promise<void>;
}

/**
 * Looks at what it would mean to have trees of a session's layer in the workspace. Throws `StageUnavailable`.
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
      await commitOrRemove(transaction, observation, kept);
      // They are in the workspace now. Without this, the trees are dropped as ones that changed there.
      await Promise.allSettled([layer.drop(paths), forgetCommit(place.stages.stateDir, transaction.id)]);
    },
    drop: () => removeTransaction(transaction),
  };
}
