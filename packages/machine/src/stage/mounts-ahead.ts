import { hash } from "node:crypto";
import { dirname, join } from "node:path";
import type { CoveredRoot } from "./covered-roots.ts";
import type { Covered } from "./covered-tree.ts";
import { modeOf, statIfPresent } from "./look-at-entry.ts";
import { type CachesOfRun, dropMounts, type MountedRoots, mountRoots } from "./mounted-roots.ts";
import type { SessionNetwork } from "./session-network.ts";

/**
 * Makes the mounts for the next command of a workspace before it comes. Nobody looks into them until then, so a command sees
 * what the user did meanwhile; mounts in which something was looked at would go on showing it. They are not taken when
 * something else is to be hidden by now, or a directory is no longer what it was.
 */
export class MountsAhead implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #caches: readonly string[];
  #ready: { readonly key: string; readonly mounted: Promise<MountedRoots | undefined> } | undefined;

  /**
   * @param stateDir private, real path
   * @param caches of package managers, over which commands may write
   */
  constructor(stateDir: string, caches: readonly string[] = []) {
    this.#stateDir = stateDir;
    this.#caches = caches;
  }

  /** Begins to make them, if there are none that fit. For when what the last command did is kept or dropped. */
  prepare(roots: readonly CoveredRoot[], network?: SessionNetwork): void {
    const key = keyOf(roots, network);
    const before = this.#ready;
    if (before?.key === key) return;
    // Who takes them is told what is wrong, when that makes them again.
    const mounted = drop(before?.mounted)
      .then(() => mountRoots(this.#stateDir, roots, network, this.#caches))
      .catch(() => undefined);
    this.#ready = { key, mounted };
  }

  /** Those that are ready, or new ones, which are then the taker's to close and to remove. Throws `StageUnavailable`. */
  async take(roots: readonly CoveredRoot[], network?: SessionNetwork, caches: CachesOfRun = {}): Promise<MountedRoots> {
    const anew = () => mountRoots(this.#stateDir, roots, network, this.#caches, caches);
    // Such a run is rare: what is ready waits for the one behind it.
    if (caches.all === true || caches.more !== undefined) return anew();
    const ready = this.#ready;
    this.#ready = undefined;
    const mounted = await ready?.mounted;
    const isOwn = mounted?.mounts.caches.every(({ kept }) => kept === undefined) === true;
    const fits = ready?.key === keyOf(roots, network) && (caches.own !== true || isOwn);
    if (mounted !== undefined && fits && mounted.mounts.areThere()) {
      // Besides what is hidden, which is the same, they know what is there now.
      return { ...mounted, covered: roots.map(({ covered }) => covered) };
    }
    await drop(ready?.mounted);
    return anew();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ready = this.#ready;
    this.#ready = undefined;
    await drop(ready?.mounted);
  }
}

async function drop(ready: Promise<MountedRoots | undefined> | undefined): Promise<void> {
  const mounted = await ready;
  if (mounted !== undefined) await dropMounts(mounted);
}

/** The same as long as the same directories are to be mounted, in one network, and the layer over them is to look the same. */
function keyOf(roots: readonly CoveredRoot[], network: SessionNetwork | undefined): string {
  const parts = roots.map(({ root, covered, layer }) => {
    const copies = [...covered.copies].map(([path, bytes]) => [path, hash("sha256", bytes)]);
    const index = covered.index && [covered.index.path, hash("sha256", covered.index.bytes)];
    return [root, covered.hidden, copies, index, looksOf(root.path, covered), layer?.revision];
  });
  return JSON.stringify([network?.id, parts]);
}

/** Of what the layer imitates: the copied files, and the directories on the way to what is hidden. */
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
