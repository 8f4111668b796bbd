import { lstatSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { restatIndex, type StatData } from "../../git-data/restat-index.ts";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import { systemErrorCode } from "../../system-error.ts";
import { indexOf } from "../cover/covered-roots.ts";
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

  private constructor(owner: RootAndCopy, workTree: CopiedTree, path: string, since: bigint) {
    this.#owner = owner;
    this.#workTree = workTree;
    this.#path = path;
    this.#since = since;
  }

  /**
   * Before a command sees the copies.
   *
   * @param roots the work tree first
   * @param since the time, in nanoseconds, before which nothing was copied yet
   */
  static async adapt(roots: readonly RootAndCopy[], since: bigint): Promise<CopiedIndex | undefined> {
    const [workTree] = roots;
    const file = workTree === undefined ? undefined : indexOf(workTree.root.path);
    const owner = roots.find(({ root }) => file !== undefined && isWithin(file, root.path));
    if (workTree === undefined || file === undefined || owner === undefined) return undefined;
    const path = relative(owner.root.path, file);
    // A link in its place leads to what is not this process's to change.
    if (!isFileIn(join(owner.root.directory, stageParts.merged), path)) return undefined;
    const index = new CopiedIndex(owner, workTree.copied, path, since);
    await owner.copied.change(path, (place) => {
      restat(place, (tracked) => workTree.copied.entries.get(tracked)?.known);
      // All copies were changed just now, and git looks at whole seconds. So it is to read what is not newer than its index: all.
      utimesSync(place, longAgo, longAgo);
    });
    return index;
  }

  /** When what changed was moved to `upper`. */
  giveBack(): void {
    const { directory } = this.#owner.root;
    const upper = join(directory, stageParts.upper);
    // A command may have made git's directory a link to anywhere.
    if (!isFileIn(upper, this.#path)) return;
    restat(join(upper, this.#path), (tracked) => {
      const known = this.#workTree.entries.get(tracked)?.known;
      // What the user changes in the second of the copy looks the same to git before and after.
      if (known === undefined || secondOf(known.from.ctimeNs) >= secondOf(this.#since)) return undefined;
      return { from: known.to, to: known.from };
    });
  }
}

/** Seconds; git takes 0 for none. */
const longAgo = 1;
/** A larger one stays as it is. */
const maxBytes = 128n * 1024n * 1024n;

/** Keeps its times. One that cannot be read or written stays as it is, too: git reads every file then. */
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

/** Whether a file is there, with no link on the way to it. */
function isFileIn(top: string, path: string): boolean {
  const ways = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
  const areDirectories = ways.every((way) => statIfPresent(join(top, way))?.isDirectory() === true);
  return areDirectories && statIfPresent(join(top, path))?.isFile() === true;
}

function secondOf(ns: bigint): bigint {
  return ns / 1_000_000_000n;
}
