import { hash, randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { modeOf, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import type { CoveredRoot } from "../cover/covered-roots.ts";
import type { Covered } from "../cover/covered-tree.ts";
import { layMask } from "../cover/lay-mask.ts";
import { type FoundCache, findCaches, makeCaches, placeCaches } from "../layer/staged-caches.ts";
import type { LayeredRoot } from "../transaction/staged-root.ts";
import { makeTransaction, removeTransaction, renewRun, type Transaction } from "../transaction/transaction.ts";
import { copyRoots } from "./copied-roots.ts";
import { keepMounts, type MountKeeper } from "./mount-keeper.ts";
import { namingCopies } from "./no-copy.ts";
import { rootsThemselves } from "./roots-themselves.ts";
import type { SessionNetwork } from "./session-network.ts";
import type { LaidStage } from "./spare-stage.ts";

/** The directories of one run and its overlays, before a command sees them. */
export interface MountedRoots {
  readonly transaction: Transaction;
  readonly mounts: MountKeeper;
  /** What is hidden from the command, by root. */
  readonly covered: readonly Covered[];
  /** The directories, if a later run can reuse them. */
  readonly laid?: LaidStage;
}

/** Which caches a run sees, besides those that the user has. */
export interface CachesOfRun {
  /** The run writes to no cache, and sees the user's caches themselves. What the session fetched is seen all the same. */
  readonly none?: boolean;
  /** Includes caches that do not exist yet: the run fetches. */
  readonly all?: boolean;
  /** Excludes what other runs of the session fetched. */
  readonly own?: boolean;
  /** Excludes the same from some caches. @param path of the cache */
  readonly ownIn?: (path: string) => boolean;
  /** Further directories of the started program that it uses as caches. */
  readonly more?: readonly string[];
}

/**
 * How commands see the roots: through an overlay over them; as a copy for each run if no overlay is possible; or, for a command
 * that only reads, the roots themselves.
 */
export type StagedBy = "overlay" | "copy" | "itself";

export interface MountOptions extends CachesOfRun {
  /** `overlay` by default. */
  readonly stagedBy?: StagedBy;
  /** Directories of earlier runs; fitting ones are used and taken out. */
  readonly spares?: LaidStage[];
  /** The transaction of earlier runs, with whose changes this one goes on. */
  readonly open?: Transaction | undefined;
}

/**
 * Throws `StageUnavailable`, and leaves nothing behind then.
 *
 * @param stateDir private, real path
 * @param roots none within another: the work tree, and git's common directory where it lies elsewhere
 * @param network that commands in it are in; each has one of its own without
 * @param caches of package managers, below the user's home
 */
export async function mountRoots(
  stateDir: string,
  roots: readonly CoveredRoot[],
  network?: SessionNetwork,
  caches: readonly string[] = [],
  { stagedBy = "overlay", spares = [], open, ...sources }: MountOptions = {},
): Promise<MountedRoots> {
  const kept = sources.own === true ? undefined : roots.find(({ layer }) => layer !== undefined)?.layer?.caches;
  const found = findCaches([...caches, ...(sources.more ?? [])], { kept, ...sources });
  if (stagedBy === "copy") return copyEach(stateDir, roots, { network, found, open });
  const isOverlaid = stagedBy === "overlay";
  const key = JSON.stringify([stagedBy, keyOf(roots), isOverlaid ? found : []]);
  const laid =
    (open === undefined ? takeSpare(spares, key) : undefined) ??
    (await layStage(stateDir, roots, { key, found, isOverlaid, open }));
  const { transaction, mountName, caches: ofRun } = laid;
  const covered = roots.map((one) => one.covered);
  try {
    if (!isOverlaid)
      return { transaction, mounts: rootsThemselves(transaction.roots, covered, network), covered, laid };
    const mounts = await keepMounts(layersOf(transaction, roots), mountName, { network, caches: ofRun });
    await mountCaches({ transaction, mounts, covered, laid }, sources);
    return { transaction, mounts, covered, laid };
  } catch (error) {
    await removeTransaction(transaction);
    throw error;
  }
}

function takeSpare(spares: LaidStage[], key: string): LaidStage | undefined {
  const at = spares.findIndex((spare) => spare.key === key);
  return at === -1 ? undefined : spares.splice(at, 1)[0];
}

/** Mounts overlays over the caches, if the run may need that. Throws `StageUnavailable`; the mounts are gone then. */
export async function mountCaches({ mounts, laid }: MountedRoots, { none = false }: CachesOfRun): Promise<void> {
  if (laid === undefined || (none && laid.caches.every(({ kept }) => kept === undefined))) return;
  makeCaches(laid.caches);
  await mounts.mountCaches();
}

/** Makes the directories of a run, and the layers over its roots. */
async function layStage(
  stateDir: string,
  roots: readonly CoveredRoot[],
  {
    key,
    found,
    isOverlaid,
    open,
  }: {
    readonly key: string;
    readonly found: readonly FoundCache[];
    readonly isOverlaid: boolean;
    readonly open: Transaction | undefined;
  },
): Promise<LaidStage> {
  const ofRoots = roots.map(({ root }) => root);
  const transaction = open ?? (await makeTransaction(stateDir, ofRoots));
  if (open !== undefined) await renewRun(open);
  try {
    const [workTree] = transaction.roots;
    const caches = workTree === undefined || !isOverlaid ? [] : placeCaches(workTree, found);
    for (const [index, root] of isOverlaid ? layersOf(transaction, roots).entries() : []) {
      await layMask(root, roots[index]?.covered ?? { hidden: [], copies: new Map() });
    }
    return { key, transaction, caches, mountName: `gennai-stage-${randomBytes(8).toString("hex")}` };
  } catch (error) {
    await removeTransaction(transaction);
    throw error;
  }
}

function layersOf(transaction: Transaction, roots: readonly CoveredRoot[]): readonly LayeredRoot[] {
  return transaction.roots.map((root, index) => ({ ...root, layer: roots[index]?.layer?.tree }));
}

async function copyEach(
  stateDir: string,
  roots: readonly CoveredRoot[],
  {
    network,
    found,
    open,
  }: {
    readonly network: SessionNetwork | undefined;
    readonly found: readonly FoundCache[];
    readonly open: Transaction | undefined;
  },
): Promise<MountedRoots> {
  const ofRoots = roots.map(({ root }) => root);
  const transaction = open ?? (await makeTransaction(stateDir, ofRoots));
  try {
    if (open !== undefined) await renewRun(open);
    const [workTree] = transaction.roots;
    const caches = workTree === undefined ? [] : placeCaches(workTree, found);
    makeCaches(caches);
    const copied = layersOf(transaction, roots).map((root, index) => ({ ...root, seen: coveredAt(roots, index) }));
    const made = await namingCopies(workTree?.path ?? "", () =>
      copyRoots(copied, { network, caches, goesOn: open !== undefined }),
    );
    return { transaction, ...made };
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

/** Unmounts, and removes all directories of the run. */
export async function dropMounts({ transaction, mounts }: MountedRoots): Promise<void> {
  await mounts.close();
  await removeTransaction(transaction);
}

/** Equal while the same directories are to be mounted, and the mask over them is to look the same. */
export function keyOf(roots: readonly CoveredRoot[]): string {
  const parts = roots.map(({ root, covered, layer }) => {
    const copies = [...covered.copies].map(([path, bytes]) => [path, hash("sha256", bytes)]);
    const index = covered.index && [covered.index.path, hash("sha256", covered.index.bytes)];
    const unnamed = covered.unnamed?.map((path) => path.toString("hex"));
    return [root, covered.hidden, unnamed, copies, index, looksOf(root.path, covered), layer?.tree, layer?.revision];
  });
  return JSON.stringify(parts);
}

/** Attributes that the mask imitates: of the copied files, and of the directories that lead to hidden entries. */
function looksOf(root: string, { hidden, copies, index }: Covered): readonly string[] {
  const paths = new Set([".", ...copies.keys()]);
  for (const path of [...hidden, ...copies.keys(), ...(index === undefined ? [] : [index.path])]) {
    for (let way = dirname(path); way !== "."; way = dirname(way)) paths.add(way);
  }
  return [...paths].map((path) => {
    const stat = statIfPresent(join(root, path));
    return stat === undefined ? "" : `${stat.ino} ${modeOf(stat)} ${stat.mtimeNs}`;
  });
}
