import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { isWhiteout, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { moveEntry } from "@gennai/machine/entries/move-entry";

export interface MergedLayers {
  /** The workspace's directory. */
  readonly root: string;
  /** The layer over `root`. */
  readonly base: string;
  /** The layer over `base`; empty in the end. */
  readonly next: string;
  /** Directories of `next` in which nothing of `base` and `root` shows. */
  readonly anew: ReadonlySet<string>;
  /** Directories of `base` in which nothing of `root` shows. */
  readonly opaque: ReadonlySet<string>;
  /** Removes an entry of `base`. */
  discard(path: string): void;
}

/**
 * Moves all of a layer into the one below it, by renames. After each rename the combined view is the same, so that the merge can
 * be repeated after a kill. Whiteouts are left out where the workspace has nothing to hide: in a directory that only one layer
 * has, the kernel would list them.
 */
export async function mergeLayer(layers: MergedLayers): Promise<void> {
  await new Merge(layers).below("", true);
}

class Merge {
  readonly #layers: MergedLayers;

  constructor(layers: MergedLayers) {
    this.#layers = layers;
  }

  /** @param shows whether the workspace's directory shows through `base` */
  async below(directory: string, shows: boolean): Promise<void> {
    for (const name of readdirSync(join(this.#layers.next, directory))) {
      await giveWay();
      await this.#entry(directory === "" ? name : `${directory}/${name}`, shows);
    }
  }

  async #entry(path: string, shows: boolean): Promise<void> {
    const { root, base, next, anew, opaque, discard } = this.#layers;
    const from = join(next, path);
    const to = join(base, path);
    const stat = lstatSync(from, { bigint: true });
    const standing = statIfPresent(to);
    const real = shows ? statIfPresent(join(root, path)) : undefined;
    if (stat.isDirectory() && standing?.isDirectory() && !anew.has(path)) {
      const mode = openDirectory(from);
      openDirectory(to);
      await this.below(path, shows && real?.isDirectory() === true && !opaque.has(path));
      utimesSync(to, seconds(stat.atimeNs), seconds(stat.mtimeNs));
      chmodSync(to, mode);
      rmdirSync(from);
      return;
    }
    if (standing?.isDirectory()) discard(to);
    else if (standing !== undefined) unlinkSync(to);
    if (isWhiteout(stat) && real === undefined) unlinkSync(from);
    else moveEntry(from, to);
  }
}

/** Makes a directory accessible to its owner. @returns its earlier mode */
function openDirectory(path: string): number {
  const mode = lstatSync(path).mode & 0o7777;
  if ((mode & 0o700) !== 0o700) chmodSync(path, mode | 0o700);
  return mode;
}

/** Seconds, with the precision that `utimes` keeps, of a time in nanoseconds. */
function seconds(ns: bigint): number {
  return Number(ns / 1000n) / 1e6;
}
