import { randomBytes } from "node:crypto";
import type { CoveredRoot } from "./covered-roots.ts";
import type { Covered } from "./covered-tree.ts";
import { layMask } from "./lay-mask.ts";
import { keepMounts, type MountKeeper } from "./mount-keeper.ts";
import type { SessionNetwork } from "./session-network.ts";
import type { LayeredRoot } from "./staging-place.ts";
import { makeTransaction, removeTransaction, type Transaction } from "./transaction.ts";

/** The directories of one run and its overlays, before a command sees them. */
export interface MountedRoots {
  readonly transaction: Transaction;
  readonly mounts: MountKeeper;
  /** What is hidden from the command, by root. */
  readonly covered: readonly Covered[];
}

/**
 * Throws `StageUnavailable`, and leaves nothing behind then.
 *
 * @param stateDir private, real path
 * @param roots none within another: the work tree, and git's common directory where it lies elsewhere
 * @param network that commands in it are in; each has one of its own without
 */
export async function mountRoots(
  stateDir: string,
  roots: readonly CoveredRoot[],
  network?: SessionNetwork,
): Promise<MountedRoots> {
  const covered = roots.map((one) => one.covered);
  const transaction = await makeTransaction(
    stateDir,
    roots.map(({ root }) => root),
  );
  try {
    const layered = transaction.roots.map((root, index): LayeredRoot => {
      return { ...root, layer: roots[index]?.layer?.tree };
    });
    for (const [index, root] of layered.entries()) {
      await layMask(root, covered[index] ?? { hidden: [], copies: new Map() });
    }
    const mounts = await keepMounts(layered, `gennai-stage-${randomBytes(8).toString("hex")}`, network);
    return { transaction, mounts, covered };
  } catch (error) {
    await removeTransaction(transaction);
    throw error;
  }
}

/** Unmounts, and removes all that there is of it. */
export async function dropMounts({ transaction, mounts }: MountedRoots): Promise<void> {
  await mounts.close();
  await removeTransaction(transaction);
}
