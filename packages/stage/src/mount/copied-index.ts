import { lstatSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { restatIndex, type StatData } from "@gennai/machine/git-data/restat-index";
import { systemErrorCode } from "@gennai/machine/system-error";
import { isWithin } from "@gennai/protocol/is-within";
import { adapt, indexOf } from "../cover/covered-roots.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { type CopiedTree, seconds } from "./copied-tree.ts";

/** A root, and the copy of it. */
export interface RootAndCopy {
  readonly root: StagedRoot;
  readonly copied: CopiedTree;
}

/**
 * Adapts git's index in a copy of the work tree to the copied files, because it identifies files by inodes and times of change.
 * Call it before a command sees the copies.
 *
 * @param roots the work tree first
 */
export async function adaptCopiedIndex(roots: readonly RootAndCopy[]): Promise<void> {
  const [workTree] = roots;
  const file = workTree === undefined ? undefined : indexOf(workTree.root.path);
  const owner = roots.find(({ root }) => file !== undefined && isWithin(file, { directory: root.path }));
  if (workTree === undefined || file === undefined || owner === undefined) return;
  const path = relative(owner.root.path, file);
  // A link instead of the file leads to a place that this process must not change.
  if (!isFileIn(join(owner.root.directory, stageParts.merged), path)) return;
  const { entries, unread, unnamed } = workTree.copied;
  await owner.copied.change(path, (place) => {
    restat(place, (tracked) => entries.get(tracked)?.known);
    leaveAlone(place, path, [...unread, ...unnamed]);
    // All copies were changed in this second, and git compares whole seconds. An index this old makes git read every file.
    utimesSync(place, longAgo, longAgo);
  });
}

/** Tells git that files which were not copied are not removed. */
function leaveAlone(place: string, path: string, uncopied: readonly string[]): void {
  const adapted = uncopied.length === 0 ? undefined : adapt(readFileSync(place), path, uncopied);
  if (adapted !== undefined) writeFileSync(place, adapted.bytes);
}

/** Seconds since the epoch; not 0, which git takes as "no time". */
const longAgo = 1;
/** A larger index stays as it is. */
const maxBytes = 128n * 1024n * 1024n;

/** Adapts an index and keeps its times. An index that cannot be read or written stays as it is: git then reads every file. */
function restat(
  place: string,
  places: (path: string) => { readonly from: StatData; readonly to: StatData } | undefined,
): void {
  try {
    const stat = lstatSync(place, { bigint: true });
    if (stat.size > maxBytes) return;
    const adapted = restatIndex(readFileSync(place), places);
    if (adapted === undefined) return;
    writeFileSync(place, adapted);
    utimesSync(place, seconds(stat.atimeNs), seconds(stat.mtimeNs));
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
  }
}

/** Whether a regular file is there, with no link on the way to it. */
function isFileIn(top: string, path: string): boolean {
  const ways = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
  const areDirectories = ways.every((way) => statIfPresent(join(top, way))?.isDirectory() === true);
  return areDirectories && statIfPresent(join(top, path))?.isFile() === true;
}
