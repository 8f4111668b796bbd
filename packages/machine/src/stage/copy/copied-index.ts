import { lstatSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { restatIndex, type StatData } from "../../git-data/restat-index.ts";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import { systemErrorCode } from "../../system-error.ts";
import { adapt, indexOf } from "../cover/covered-roots.ts";
import type { Covered } from "../cover/covered-tree.ts";
import { statIfPresent } from "../files/look-at-entry.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { type CopiedTree, seconds } from "./copied-tree.ts";

/** A root, and the copy of it. */
export interface RootAndCopy {
  readonly root: StagedRoot;
  readonly copied: CopiedTree;
}

/**
 * Git's index of the work tree, which identifies files by inodes and times of change: in the copy, it is adapted to the copied
 * files, and a command's version of it is adapted back to the user's files.
 */
export class CopiedIndex {
  readonly #owner: RootAndCopy;
  readonly #workTree: CopiedTree;
  readonly #path: string;
  readonly #since: bigint;
  /** The index, if it tracks what was not copied. */
  #covered: Covered["index"];

  private constructor(owner: RootAndCopy, workTree: CopiedTree, path: string, since: bigint) {
    this.#owner = owner;
    this.#workTree = workTree;
    this.#path = path;
    this.#since = since;
  }

  /**
   * Adapts the index in the copy. Call it before a command sees the copies.
   *
   * @param roots the work tree first
   * @param since nanoseconds; nothing was copied before this time
   */
  static async adapt(roots: readonly RootAndCopy[], since: bigint): Promise<CopiedIndex | undefined> {
    const [workTree] = roots;
    const file = workTree === undefined ? undefined : indexOf(workTree.root.path);
    const owner = roots.find(({ root }) => file !== undefined && isWithin(file, root.path));
    if (workTree === undefined || file === undefined || owner === undefined) return undefined;
    const path = relative(owner.root.path, file);
    // A link instead of the file leads to a place that this process must not change.
    if (!isFileIn(join(owner.root.directory, stageParts.merged), path)) return undefined;
    const index = new CopiedIndex(owner, workTree.copied, path, since);
    await owner.copied.change(path, (place) => {
      restat(place, (tracked) => workTree.copied.entries.get(tracked)?.known);
      index.#leaveAlone(place, [...workTree.copied.unread, ...workTree.copied.unnamed]);
      // All copies were changed in this second, and git compares whole seconds. An index this old makes git read every file.
      utimesSync(place, longAgo, longAgo);
    });
    return index;
  }

  /** What the command sees of the root that holds the index. */
  coveredIn(root: StagedRoot, covered: Covered): Covered {
    if (root !== this.#owner.root || this.#covered === undefined) return covered;
    const { path, bytes, skipped } = this.#covered;
    return { ...covered, index: { path, bytes, skipped: new Set([...skipped, ...(covered.index?.skipped ?? [])]) } };
  }

  /** Tells git that files which were not copied are not removed. */
  #leaveAlone(place: string, uncopied: readonly string[]): void {
    if (uncopied.length === 0) return;
    this.#covered = adapt(readFileSync(place), this.#path, uncopied);
    if (this.#covered !== undefined) writeFileSync(place, this.#covered.bytes);
  }

  /** Adapts the command's index back to the user's files. Call it after the changed entries were moved to `upper`. */
  giveBack(): void {
    const { directory } = this.#owner.root;
    const upper = join(directory, stageParts.upper);
    // A command may have made git's directory a link to anywhere.
    if (!isFileIn(upper, this.#path)) return;
    restat(join(upper, this.#path), (tracked) => {
      const known = this.#workTree.entries.get(tracked)?.known;
      // Git cannot see a change that the user makes in the same second as the copy.
      if (known === undefined || secondOf(known.from.ctimeNs) >= secondOf(this.#since)) return undefined;
      return { from: known.to, to: known.from };
    });
  }
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

function secondOf(ns: bigint): bigint {
  return ns / 1_000_000_000n;
}
