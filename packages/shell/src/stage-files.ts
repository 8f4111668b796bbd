import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { giveWay } from "@gennai/machine/entries/give-way";
import { removeTransaction } from "@gennai/stage/transaction/transaction";
import { changeOnStage, type StageContext } from "./change-on-stage.ts";
import { commitOrRemove } from "./found/commit-or-remove.ts";
import { settleCommit } from "./found/keep-effects.ts";
import { keepWayBack } from "./found/keep-way-back.ts";
import { describeLeft, type StagedOffer } from "./run/run-staged.ts";
import { fileState, isSame, type StateChange } from "./tree-state.ts";

/**
 * Applies to a stage the file changes made elsewhere, in a copy of the workspace. Throws `StageUnavailable`, and `ToolFailure`
 * `stale_file` if the workspace differs from the copy's base; nothing is left then.
 *
 * @param contentOf the bytes of a file afterwards
 */
export async function stageFiles(
  changes: readonly StateChange[],
  contentOf: (change: StateChange) => Buffer,
  place: StageContext,
): Promise<StagedOffer> {
  const { stages, workspaceRoot } = place;
  const { transaction, observation, kept, found } = await changeOnStage(place, async (merged, top) => {
    const stale = changes.filter(({ path, before }) => !isSame(fileState(join(workspaceRoot, path)), before));
    if (stale.length > 0) throw changedSince(stale);
    const root = join(merged, workspaceRoot.slice(top.length));
    for (const change of changes) {
      await giveWay();
      putThere(root, change, contentOf);
    }
  });
  return {
    ...found,
    left: observation.effects.filter((effect) => !kept.includes(effect)).map(describeLeft),
    keep: async (without, about = {}) => {
      const wanted = found.effectsWithout(without);
      keepWayBack(transaction, wanted, [], { workspace: workspaceRoot, title: about.title });
      await commitOrRemove(transaction, observation, wanted);
      await settleCommit(stages.stateDir, transaction.id);
      return { changes: found.changes(wanted), notInLayer: undefined };
    },
    drop: () => removeTransaction(transaction),
  };
}

function putThere(root: string, change: StateChange, contentOf: (change: StateChange) => Buffer): void {
  const { path, before, after } = change;
  const at = join(root, path);
  // An absolute link would lead out of the stage.
  for (let way = dirname(path); way !== "."; way = dirname(way)) {
    if (lstatSync(join(root, way), { throwIfNoEntry: false })?.isDirectory() === false) throw changedSince([change]);
  }
  const there = lstatSync(at, { throwIfNoEntry: false });
  if (after === undefined) return rmSync(at, { force: true });
  // An existing link is replaced, and so is an empty directory where a file is to be.
  if (there !== undefined && !(there.isFile() && after.kind !== "link")) rmSync(at, { recursive: true, force: true });
  mkdirSync(dirname(at), { recursive: true });
  const bytes = contentOf(change);
  if (after.kind === "link") return symlinkSync(bytes, at);
  writeFileSync(at, bytes);
  if (before?.kind === after.kind && there?.isFile() === true) return;
  chmodSync(at, after.kind === "executable" ? 0o755 : 0o644);
}

function changedSince(stale: readonly StateChange[]): ToolFailure {
  const [first, ...others] = stale.map(({ path }) => path);
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return new ToolFailure(
    "stale_file",
    `Nothing was kept: ${first}${more}: it is not as it was when the copy was made.`,
    {
      failureClass: "partial_execution",
      hint: "Put it back as it was, or try again.",
    },
  );
}
