import { type Dirent, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { isWithin } from "./host-layout.ts";

/** Directories of other people's code and of git's own data: large, and no place for the user's secrets. */
const passedOver: ReadonlySet<string> = new Set([".git", "node_modules", ".pnpm-store", "__pycache__"]);
/** A directory that changed this short before it was read may change again within the same tick of the file system's clock. */
const settledNs = 50_000_000n;
const maxDirectories = 50_000;

interface Listing {
  readonly changed: bigint;
  readonly settled: boolean;
  readonly secrets: readonly string[];
  readonly directories: readonly string[];
}

/**
 * Finds the files below a directory whose content is not for the agent. Remembers what it saw and reads a directory again
 * only when it changed, so that looking before every command costs a `stat` for each directory.
 */
export class ZeroAccessFiles {
  readonly #root: string;
  #listings = new Map<string, Listing>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Real absolute paths of files that exist. */
  find(): readonly string[] {
    const listings = new Map<string, Listing>();
    const found = new Set<string>();
    const queue = [this.#root];
    for (let next = 0; next < queue.length && next < maxDirectories; next++) {
      const directory = queue[next] ?? "";
      const listing = this.#list(directory);
      if (listing === undefined) continue;
      listings.set(directory, listing);
      for (const secret of listing.secrets) found.add(secret);
      queue.push(...listing.directories);
    }
    this.#listings = listings;
    return [...found].filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
  }

  #list(directory: string): Listing | undefined {
    try {
      const { mtimeNs, ctimeNs } = lstatSync(directory, { bigint: true });
      const changed = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
      const known = this.#listings.get(directory);
      if (known?.settled && known.changed === changed) return known;
      const settled = BigInt(Date.now()) * 1_000_000n - changed > settledNs;
      const entries = readdirSync(directory, { withFileTypes: true });
      return {
        changed,
        settled,
        secrets: entries.flatMap((entry) => this.#secret(entry)),
        directories: entries
          .filter((entry) => entry.isDirectory() && !passedOver.has(entry.name))
          .map((entry) => join(directory, entry.name)),
      };
    } catch {
      // It went away, or is not readable: not for the command either, which runs as the same user.
      return undefined;
    }
  }

  #secret(entry: Dirent): readonly string[] {
    if (entry.isDirectory()) return [];
    const path = join(entry.parentPath, entry.name);
    const isSecret =
      secretPath(relative(this.#root, path)) !== undefined || (entry.name === ".npmrc" && holdsLogin(path));
    if (!isSecret) return [];
    if (!entry.isSymbolicLink()) return [path];
    try {
      const target = realpathSync(path);
      return isWithin(target, this.#root) ? [target] : [];
    } catch {
      return [];
    }
  }
}

/** A registry's settings are needed to build; a login among them is not. */
function holdsLogin(file: string): boolean {
  try {
    return /_auth|_password|token/i.test(readFileSync(file, "utf8"));
  } catch {
    return true;
  }
}
