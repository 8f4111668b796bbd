import { randomBytes } from "node:crypto";
import { copyRoots } from "./copied-roots.ts";
import type { CoveredRoot } from "./covered-roots.ts";
import type { Covered } from "./covered-tree.ts";
import { layMask } from "./lay-mask.ts";
import { keepMounts, type MountKeeper } from "./mount-keeper.ts";
import { namingCopies } from "./no-copy.ts";
import { rootsThemselves } from "./roots-themselves.ts";
import type { SessionNetwork } from "./session-network.ts";
import { makeCaches } from "./staged-caches.ts";
import type { LayeredRoot } from "./staging-place.ts";
import { makeTransaction, removeTransaction, type Transaction } from "./transaction.ts";

/** The directories of one run and its overlays, before a command sees them. */
export interface MountedRoots {
  readonly transaction: Transaction;
  readonly mounts: MountKeeper;
  /** What is hidden from the command, by root. */
  readonly covered: readonly Covered[];
}

/** Which caches a run finds, besides those of the user's that are there. */
export interface CachesOfRun {
  /** Those that nobody has yet as well: it fetches. */
  readonly all?: boolean;
  /** Without what other runs of the session fetched. */
  readonly own?: boolean;
  /** Directories of the program that is started, which it uses as a cache is used. */
  readonly more?: readonly string[];
}

/**
 * How commands see the roots: by an overlay over them, by a copy for each run where there can be none, or, for what only reads, as they
 * are.
 */
export type StagedBy = "overlay" | "copy" | "itself";

/**
 * Throws `StageUnavailable`, and leaves nothing behind then.
 *
 * @param stateDir private, real path
 * @param roots none within another: the work tree, and git's common directory where it lies elsewhere
 * @param network that commands in it are in; each has one of its own without
 * @param caches of package managers, below the user's home
 * @param options.stagedBy `overlay` by default
 */
export async function mountRoots(
  stateDir: string,
  roots: readonly CoveredRoot[],
  network?: SessionNetwork,
  caches: readonly string[] = [],
  { stagedBy = "overlay", ...sources }: CachesOfRun & { readonly stagedBy?: StagedBy } = {},
): Promise<MountedRoots> {
  const covered = roots.map((one) => one.covered);
  const transaction = await makeTransaction(
    stateDir,
    roots.map(({ root }) => root),
  );
  try {
    if (stagedBy === "itself") {
      return { transaction, mounts: rootsThemselves(transaction.roots, covered, network), covered };
    }
    const layered = transaction.roots.map((root, index): LayeredRoot => {
      return { ...root, layer: roots[index]?.layer?.tree };
    });
    const [workTree] = transaction.roots;
    const kept = sources.own === true ? undefined : roots.find(({ layer }) => layer !== undefined)?.layer?.caches;
    const ofRun =
      workTree === undefined
        ? []
        : makeCaches(workTree, [...caches, ...(sources.more ?? [])], { kept, all: sources.all === true });
    if (stagedBy === "copy") {
      const copied = transaction.roots.map((root, index) => ({ ...root, seen: coveredAt(roots, index) }));
      const made = await namingCopies(workTree?.path ?? "", () => copyRoots(copied, { network, caches: ofRun }));
      return { transaction, ...made };
    }
    for (const [index, root] of layered.entries()) {
      await layMask(root, covered[index] ?? { hidden: [], copies: new Map() });
    }
    const mounts = await keepMounts(layered, `gennai-stage-${randomBytes(8).toString("hex")}`, {
      network,
      caches: ofRun,
    });
    return { transaction, mounts, covered };
  } catch (error) {
    await removeTransaction(transaction);
    throw error;
  }
}

function coveredAt(roots: readonly CoveredRoot[], index: number): CoveredRoot {
  const covered = roots[index];
  if (covered === undefined) throw new Error("A root is not covered.");
  return covered;
}

/** Unmounts, and removes all that there is of it. */
export async function dropMounts({ transaction, mounts }: MountedRoots): Promise<void> {
  await mounts.close();
  await removeTransaction(transaction);
}
