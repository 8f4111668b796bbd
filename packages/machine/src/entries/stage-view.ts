import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { giveWay } from "./give-way.ts";
import { statIfPresent } from "./look-at-entry.ts";
import { readableEntries } from "./names-in.ts";

/** What shows what a command did, besides the entries of a root's `upper` directory. Paths are relative to the root, with `/`. */
export interface StageView {
  /** A path, for this process, to what the command saw. */
  at(path: string): string;
  /** True for a directory in `upper` in which nothing of the earlier content shows. */
  isAnew(path: string, upper: BigIntStats): boolean;
  /**
   * Names that were in a directory of the command's and are missing now, without a whiteout in `upper`. Undefined where the
   * kernel omits whiteouts only in directories that are made anew.
   */
  goneIn?(directory: string): readonly string[];
  /** The inode of the user's entry that an entry in `upper` began as; undefined for a new entry. */
  origin(path: string, upper: BigIntStats): bigint | undefined;
  /** True if the path or a directory above it is a mount point or on another file system: nothing can be renamed to it. */
  isElsewhere(path: string): boolean;
  /**
   * False if directories of the user can hold entries that the command did not see: then a new one must not replace one as a
   * whole.
   */
  readonly canReplace: boolean;
  /** Pipes, sockets and devices that the command left; they are removed already. */
  readonly dropped: readonly string[];
  /** False if no layer can say that a name of the workspace is gone. */
  readonly canHide: boolean;
}

/** From the inode of an entry in `upper` to the inode of the user's entry that it began as. */
export type Origins = ReadonlyMap<bigint, bigint>;

/**
 * The view by the overlay, while it is mounted.
 *
 * @param merged path by which this process reaches it
 * @param origins what an earlier mount knew: a new mount no longer knows the origins of moved entries
 */
export function overlayView(merged: string, origins: Origins = new Map()): StageView {
  const at = (path: string): string => join(merged, path);
  return {
    at,
    // A merged directory has the inode of the lower one. The root has its own.
    isAnew: (path, upper) => path !== "" && statIfPresent(at(path))?.ino === upper.ino,
    // The overlay gives the inode of the lower file, not that of its own copy.
    origin: (path, upper) => {
      const shown = statIfPresent(at(path))?.ino;
      return shown === upper.ino ? origins.get(upper.ino) : shown;
    },
    isElsewhere: () => false,
    canReplace: true,
    dropped: [],
    canHide: true,
  };
}

/** The origins that an overlay knows, without unreadable directories. @param merged path by which this process reaches it */
export async function originsIn(upper: string, merged: string): Promise<Origins> {
  const origins = new Map<bigint, bigint>();
  const waiting = [""];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const entry of readableEntries(join(upper, path))) {
      await giveWay();
      const below = join(path, entry.name);
      if (entry.isDirectory()) waiting.push(below);
      const own = entry.isFile() ? statIfPresent(join(upper, below)) : undefined;
      // Another name of a file is not a move.
      if (own?.nlink !== 1n) continue;
      const shown = statIfPresent(join(merged, below))?.ino;
      if (shown !== undefined && shown !== own.ino) origins.set(own.ino, shown);
    }
  }
  return origins;
}
