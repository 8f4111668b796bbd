import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { commit } from "../stage/commit.ts";
import { copyLayer } from "../stage/copy-layer.ts";
import { neverKept } from "../stage/effect.ts";
import type { SessionLayer } from "../stage/session-layer.ts";
import { NotCommitted } from "../stage/stage-error.ts";
import { removeTransaction } from "../stage/transaction.ts";
import { forgetCommit } from "../stage/undo-commit.ts";
import { type FoundEffects, foundEffects } from "./found-effects.ts";
import { notKept } from "./run-staged.ts";
import type { Stages, ZeroAccess } from "./stages.ts";

/** Trees of a layer as they would be in the workspace. The holder keeps or drops it. */
export interface StagedLayer extends FoundEffects {
  /** Makes it true, and takes it out of the layer. Throws `ToolFailure` `stale_file` when somebody else changed the same meanwhile. */
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
  {
    stages,
    zeroAccess,
    workspaceRoot,
  }: { readonly stages: Stages; readonly zeroAccess: ZeroAccess; readonly workspaceRoot: string },
): Promise<StagedLayer> {
  const { stage } = await stages.stage(workspaceRoot, zeroAccess);
  const { transaction } = stage;
  try {
    await stage.change(async (merged) => {
      for (const path of paths) await copyLayer(layer, merged, path);
    });
    const observation = await stage.observe();
    await stage.close();
    const kept = observation.effects.filter(({ flags }) => !flags.some((flag) => neverKept.includes(flag)));
    const found = await foundEffects({
      transaction,
      effects: kept,
      git: [],
      workspaceRoot,
      home: stages.home,
      leads: stages.leads(workspaceRoot),
      command: analyseCommand("true", { cwd: workspaceRoot, home: stages.home, workspace: workspaceRoot }),
      confirmed: false,
    });
    return {
      ...found,
      keep: async () => {
        try {
          await commit(transaction, observation, kept);
        } catch (error) {
          if (!(error instanceof NotCommitted)) throw error;
          await removeTransaction(transaction);
          throw notKept(error);
        }
        // Killed before this, the trees are dropped as ones that changed in the workspace.
        await layer.drop(paths);
        await forgetCommit(stages.stateDir, transaction.id);
      },
      drop: () => removeTransaction(transaction),
    };
  } catch (error) {
    await stage.close();
    await removeTransaction(transaction);
    throw error;
  }
}
