import { type BigIntStats, readdirSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../../system-error.ts";
import { giveWay } from "./give-way.ts";
import { statIfPresent } from "./look-at-entry.ts";

/** How what a command did shows, besides the entries of a root's `upper` directory. Paths are relative to the root, with `/`. */
export interface StageView {
  /** A path of this process's to what the command saw. */
  at(path: string): string;
  /** Of a directory in `upper`: nothing of what was there before shows in it. */
  isAnew(path: string, upper: BigIntStats): boolean;
  /**
   * Names that a directory of the command's lacks, which had them, and that `upper` has no whiteout for. Undefined where the
   * kernel leaves out one only in directories that are made anew.
   */
  goneIn?(directory: string): readonly string[];
  /** The inode that an entry in `upper` began as; undefined where it is a new one. */
  origin(path: string, upper: BigIntStats): bigint | undefined;
  /** Something is mounted there or above it, or it lies on another file system: nothing can be renamed to there. */
  isElsewhere(path: string): boolean;
  /** False where a directory of the user's can hold what the command did not see: one made anew must not take its place as a whole. */
  readonly canReplace: boolean;
  /** Pipes, sockets and devices that the command left, and that are removed already. */
  readonly dropped: readonly string[];
  /** False where no layer can say that a name of the workspace's is gone. */
  readonly canHide: boolean;
}

/** By the inode of what is in `upper`: the one of the user's that it began as. */
export type Origins = ReadonlyMap<bigint, bigint>;

/**
 * By the overlay, while it is mounted.
 *
 * @param merged a path of this process's to it
 * @param origins that another one knew: it forgets those of what was moved
 */
export function overlayView(merged: string, origins: Origins = new Map()): StageView {
  const at = (path: string): string => join(merged, path);
  return {
    at,
    // A directory that is merged has the number of the one below; the root has its own.
    isAnew: (path, upper) => path !== "" && statIfPresent(at(path))?.ino === upper.ino,
    // It gives the number of the file below, and not of its own copy.
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

/** What an overlay knows. What nobody may look into is left out. @param merged a path of this process's to it */
export async function originsIn(upper: string, merged: string): Promise<Origins> {
  const origins = new Map<bigint, bigint>();
  const waiting = [""];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const entry of entriesIn(join(upper, path))) {
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

function entriesIn(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}
