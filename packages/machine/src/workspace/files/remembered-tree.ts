import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../../system-error.ts";

/** Nanoseconds. A directory read so soon after its last change may change again in the same tick of the file system's clock. */
const settledNs = 50_000_000n;
/** More than any project has; examining more before each command would take too long. */
const maxDirectories = 1_000_000;

/** A caller's result for the names in a directory. */
export interface Looked<T> {
  readonly found: T;
  /** Names of the directories to examine next. */
  readonly below: readonly string[];
}

interface Listing<T> extends Looked<T> {
  readonly changed: string;
  readonly settled: boolean;
}

export interface WalkedTree<T> {
  readonly found: ReadonlyMap<string, T>;
  /** Directories that may not be read; their owner can change that. */
  readonly unreadable: readonly string[];
  /**
   * Directories that no path reaches, because their names are not UTF-8 or the path is too long, and those beyond the maximum
   * number.
   */
  readonly unlisted: readonly string[];
  /** True if nothing has changed since the last walk. */
  readonly same: boolean;
}

/**
 * The directories below one, by absolute path. Remembers what was seen and reads a directory again only when it changed, so
 * that a walk costs a `stat` for each. It follows no link.
 */
export class RememberedTree<T> {
  readonly #root: string;
  readonly #look: (directory: string, entries: readonly Dirent[]) => Looked<T>;
  #listings = new Map<string, Listing<T>>();

  constructor(root: string, look: (directory: string, entries: readonly Dirent[]) => Looked<T>) {
    this.#root = root;
    this.#look = look;
  }

  walk(): WalkedTree<T> {
    const steps = this.#steps();
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /** Like `walk`, with a pause after each directory. One walk at a time. */
  async walkPausing(pause: () => Promise<void>): Promise<WalkedTree<T>> {
    const steps = this.#steps();
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await pause();
    }
  }

  *#steps(): Generator<undefined, WalkedTree<T>> {
    const known = this.#listings;
    const listings = new Map<string, Listing<T>>();
    const unreadable: string[] = [];
    const unlisted: string[] = [];
    const queue = [this.#root];
    let same = true;
    for (let next = 0; next < queue.length; next++) {
      const directory = queue[next] ?? "";
      if (next > maxDirectories || directory.includes("\uFFFD")) {
        unlisted.push(directory);
        continue;
      }
      const listing = this.#list(directory);
      if (listing === "unreadable") unreadable.push(directory);
      if (listing === "unlisted") unlisted.push(directory);
      if (typeof listing === "string") continue;
      same &&= listing === known.get(directory);
      listings.set(directory, listing);
      for (const name of listing.below) queue.push(join(directory, name));
      yield;
    }
    this.#listings = listings;
    const found = new Map([...listings].map(([directory, listing]) => [directory, listing.found]));
    return { found, unreadable, unlisted, same: same && listings.size === known.size };
  }

  #list(directory: string): Listing<T> | "unreadable" | "unlisted" | "gone" {
    try {
      const { ctimeNs, dev, ino } = lstatSync(directory, { bigint: true });
      const changed = `${dev}:${ino}:${ctimeNs}`;
      const known = this.#listings.get(directory);
      if (known?.settled && known.changed === changed) return known;
      const settled = BigInt(Date.now()) * 1_000_000n - ctimeNs > settledNs;
      return { ...this.#look(directory, readdirSync(directory, { withFileTypes: true })), changed, settled };
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === "EACCES" || code === "EPERM") return "unreadable";
      if (code === "ENOENT" || code === "ENOTDIR") return "gone";
      if (code === "ENAMETOOLONG") return "unlisted";
      throw error;
    }
  }
}
