import { chmodSync, existsSync, unlinkSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { lookLike } from "@gennai/machine/entries/look-like";
import { systemErrorCode } from "@gennai/machine/system-error";
import type { StagedCache } from "../layer/staged-caches.ts";
import { stageParts } from "../transaction/staged-root.ts";
import type { Transaction } from "../transaction/transaction.ts";

/** The directories of a run and what they were made for, without mounts. */
export interface LaidStage {
  /** Equal for runs that need the same directories. */
  readonly key: string;
  readonly transaction: Transaction;
  readonly caches: readonly StagedCache[];
  /** Name of its overlays in the list of mounts. */
  readonly mountName: string;
}

/**
 * Makes the directories of a run that left nothing in them like new for the next run. False if the run left something. The caller
 * ensures that no process of the run, no mounts, and no process that could have got its open files exist.
 *
 * @param markers of the run: unchanged entries are older
 */
export async function cleanUntouched(
  { transaction: { roots }, caches }: LaidStage,
  markers: readonly bigint[],
): Promise<boolean> {
  const [first] = markers;
  const overlaid = [
    ...roots.map(({ directory }, index) => ({ directory, marker: markers[index] })),
    // Caches are on the file system of the first root. Some runs need none.
    ...caches.filter(({ directory }) => existsSync(directory)).map(({ directory }) => ({ directory, marker: first })),
  ];
  const isUntouched = overlaid.every(({ directory, marker }) => {
    const upper = statIfPresent(join(directory, stageParts.upper));
    return upper !== undefined && marker !== undefined && upper.ctimeNs < marker;
  });
  if (!isUntouched) return false;
  for (const { directory } of overlaid) if (!(await cleanWork(join(directory, stageParts.work)))) return false;
  // The time of the last read of a directory is visible too.
  for (const root of roots) lookLike(root.path, join(root.directory, stageParts.upper));
  return true;
}

/**
 * Removes what the overlay left in `work`: closed directories, and a note that it wrote nothing to disk, because of which the
 * kernel would refuse the next mount.
 */
async function cleanWork(directory: string): Promise<boolean> {
  const closed = ["work", "work/incompat", "work/incompat/volatile"].map((name) => join(directory, name));
  try {
    for (const path of closed) chmodSync(path, 0o700);
    unlinkSync(join(directory, "work/incompat/volatile/dirty"));
    // Asynchronous, because the system delays it where something was mounted a moment ago.
    for (const path of closed.toReversed()) await rmdir(path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    // The directory is missing if it was never mounted.
    return statIfPresent(join(directory, "work")) === undefined;
  }
}
