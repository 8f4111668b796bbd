import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { giveWay } from "../files/give-way.ts";
import { isWhiteout, statIfPresent } from "../files/look-at-entry.ts";
import { moveEntry } from "../files/move-entry.ts";

export interface MergedLayers {
  /** The workspace's tree. */
  readonly root: string;
  /** The layer over it. */
  readonly base: string;
  /** The layer over that; empty in the end. */
  readonly next: string;
  /** Directories of `next` that show nothing of what lies below it. */
  readonly anew: ReadonlySet<string>;
  /** Directories of `base` that show nothing of the workspace. */
  readonly opaque: ReadonlySet<string>;
  /** Takes something out of `base`. */
  discard(path: string): void;
}

/**
 * Moves all of a layer into the one below it, by renames: what is seen through both stays the same after each of them, so
 * that it can be done again after a kill. Whiteouts are left out where the workspace has nothing to hide: the kernel lists
 * them in a directory that is in one layer alone.
 */
export async function mergeLayer(layers: MergedLayers): Promise<void> {
  await new Merge(layers).below("", true);
}

class Merge {
  readonly #layers: MergedLayers;

  constructor(layers: MergedLayers) {
    this.#layers = layers;
  }

  /** @param shows the workspace's directory shows through `base` */
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

/** @returns the mode that it had */
function openDirectory(path: string): number {
  const mode = lstatSync(path).mode & 0o7777;
  if ((mode & 0o700) !== 0o700) chmodSync(path, mode | 0o700);
  return mode;
}

/** The digits that count of a time in nanoseconds. */
function seconds(ns: bigint): number {
  return Number(ns / 1000n) / 1e6;
}
