import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../system-error.ts";

/** A directory that changed this short before it was read may change again within the same tick of the file system's clock. */
const settledNs = 50_000_000n;
/** More than any project has: nobody waits for a look at them before each command. */
const maxDirectories = 1_000_000;

/** What somebody makes of the names in a directory. */
export interface Looked<T> {
  readonly found: T;
  /** Names of the directories to go on with. */
  readonly below: readonly string[];
}

interface Listing<T> extends Looked<T> {
  readonly changed: string;
  readonly settled: boolean;
}

/** A directory holds something that cannot be looked at, so that nothing can be said of what is below it. */
export class UnlistedTree extends Error {
  override readonly name = "UnlistedTree";
}

export interface WalkedTree<T> {
  readonly found: ReadonlyMap<string, T>;
  /** Directories that are there and may not be read; whoever owns them can change that. */
  readonly unreadable: readonly string[];
  /** Nothing is other than when it was walked last. */
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

  /** Throws `UnlistedTree` rather than leave anything out. */
  walk(): WalkedTree<T> {
    const known = this.#listings;
    const listings = new Map<string, Listing<T>>();
    const unreadable: string[] = [];
    const queue = [this.#root];
    let same = true;
    for (let next = 0; next < queue.length; next++) {
      if (next > maxDirectories) throw new UnlistedTree(`there are more than ${maxDirectories} directories.`);
      const directory = queue[next] ?? "";
      const listing = this.#list(directory);
      if (listing === "unreadable") unreadable.push(directory);
      if (typeof listing === "string") continue;
      same &&= listing === known.get(directory);
      listings.set(directory, listing);
      for (const name of listing.below) queue.push(join(directory, name));
    }
    this.#listings = listings;
    const found = new Map([...listings].map(([directory, listing]) => [directory, listing.found]));
    return { found, unreadable, same: same && listings.size === known.size };
  }

  #list(directory: string): Listing<T> | "unreadable" | "gone" {
    try {
      const { ctimeNs, dev, ino } = lstatSync(directory, { bigint: true });
      const changed = `${dev}:${ino}:${ctimeNs}`;
      const known = this.#listings.get(directory);
      if (known?.settled && known.changed === changed) return known;
      const settled = BigInt(Date.now()) * 1_000_000n - ctimeNs > settledNs;
      const looked = this.#look(directory, readdirSync(directory, { withFileTypes: true }));
      const unnamed = looked.below.find((name) => name.includes("\uFFFD"));
      if (unnamed !== undefined) {
        throw new UnlistedTree(
          `${join(directory, unnamed)} is a directory whose name is no UTF-8. Give it another name.`,
        );
      }
      return { ...looked, changed, settled };
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === "EACCES" || code === "EPERM") return "unreadable";
      if (code === "ENOENT" || code === "ENOTDIR") return "gone";
      if (code !== "ENAMETOOLONG") throw error;
      throw new UnlistedTree(`${directory.slice(0, 200)}… lies too deep to be looked at. Remove it.`);
    }
  }
}
