import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { neverKept, type Observation, type StageEffect } from "@gennai/stage/observe/effect";
import { removeTransaction, type Transaction } from "@gennai/stage/transaction/transaction";
import { type FoundEffects, foundEffects } from "./found/found-effects.ts";
import type { Stages, ZeroAccess } from "./stages/stages.ts";

/** Where this process changes a workspace on a stage, without a command. */
export interface StageContext {
  readonly stages: Stages;
  readonly zeroAccess: ZeroAccess;
  /** Real path. */
  readonly workspaceRoot: string;
}

/** An unmounted stage, and what was changed there. The holder commits or removes the transaction. */
export interface ChangedStage {
  readonly transaction: Transaction;
  readonly observation: Observation;
  /** The effects that can be kept. */
  readonly kept: readonly StageEffect[];
  readonly found: FoundEffects;
}

/**
 * Changes a workspace on a stage, and observes the changes like those of a command. Throws `StageUnavailable`, and what `change`
 * throws; nothing is left behind then.
 *
 * @param change gets what the stage shows of the outermost directory, and that directory's real path
 */
export async function changeOnStage(
  { stages, zeroAccess, workspaceRoot }: StageContext,
  change: (merged: string, top: string) => Promise<void>,
): Promise<ChangedStage> {
  const { stage } = await stages.stage(workspaceRoot, zeroAccess);
  const { transaction } = stage;
  try {
    await stage.change((merged) => change(merged, transaction.roots[0]?.path ?? workspaceRoot));
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
    return { transaction, observation, kept, found };
  } catch (error) {
    await stage.close();
    await removeTransaction(transaction);
    throw error;
  }
}
