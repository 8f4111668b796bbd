import { chmodSync, existsSync, unlinkSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "../../system-error.ts";
import { statIfPresent } from "../files/look-at-entry.ts";
import { lookLike } from "../files/look-like.ts";
import type { StagedCache } from "../layer/staged-caches.ts";
import { stageParts } from "../transaction/staged-root.ts";
import type { Transaction } from "../transaction/transaction.ts";

/** The directories of a run and what they were made for, without mounts. */
export interface LaidStage {
  /** The same for all runs that are to find the same. */
  readonly key: string;
  readonly transaction: Transaction;
  readonly caches: readonly StagedCache[];
  /** Of its overlays. */
  readonly mountName: string;
}

/**
 * Reuses the directories of a run that left nothing in them: the next run finds them as if new. False if the run did leave
 * something. There must be no process of the run, no mounts, and no process that could have got its open files.
 *
 * @param markers of the run: anything unchanged since is older
 */
export async function cleanUntouched(
  { transaction: { roots }, caches }: LaidStage,
  markers: readonly bigint[],
): Promise<boolean> {
  const [first] = markers;
  const overlaid = [
    ...roots.map(({ directory }, index) => ({ directory, marker: markers[index] })),
    // They are on the file system of the first root. Some runs need none.
    ...caches.filter(({ directory }) => existsSync(directory)).map(({ directory }) => ({ directory, marker: first })),
  ];
  const isUntouched = overlaid.every(({ directory, marker }) => {
    const upper = statIfPresent(join(directory, stageParts.upper));
    return upper !== undefined && marker !== undefined && upper.ctimeNs < marker;
  });
  if (!isUntouched) return false;
  for (const { directory } of overlaid) if (!(await cleanWork(join(directory, stageParts.work)))) return false;
  // When a directory was read last shows as well.
  for (const root of roots) lookLike(root.path, join(root.directory, stageParts.upper));
  return true;
}

/** The overlay makes closed directories there, with a note that it wrote nothing to disk: with that, the next one is refused. */
async function cleanWork(directory: string): Promise<boolean> {
  const closed = ["work", "work/incompat", "work/incompat/volatile"].map((name) => join(directory, name));
  try {
    for (const path of closed) chmodSync(path, 0o700);
    unlinkSync(join(directory, "work/incompat/volatile/dirty"));
    // Where something was mounted a moment ago, the system lets this wait.
    for (const path of closed.toReversed()) await rmdir(path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    // One that was never mounted has none.
    return statIfPresent(join(directory, "work")) === undefined;
  }
}
