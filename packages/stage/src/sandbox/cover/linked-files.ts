import { type Dirent } from "node:fs";
import { join } from "node:path";
import { entryAt } from "@gennai/machine/entry-at";

/** The names and inodes of the files in a directory. */
export interface FileNames {
  readonly all: readonly (readonly [inode: string, name: string])[];
  /** Inodes of the files that have more than one name. */
  readonly linked: readonly string[];
}

/** Files of a tree that have several names. */
export class LinkedFiles {
  readonly #names = new Map<string, string[]>();

  /** @param found the names in each directory of the tree, by its absolute path */
  constructor(found: Iterable<readonly [directory: string, names: FileNames]> = []) {
    for (const [, { linked }] of found) for (const inode of linked) this.#names.set(inode, []);
    for (const [directory, { all }] of found) {
      for (const [inode, name] of all) this.#names.get(inode)?.push(join(directory, name));
    }
  }

  /** All names of a file in the tree. */
  namesOf(path: string): readonly string[] {
    const stat = entryAt(path);
    return stat === undefined ? [] : (this.#names.get(inodeOf(stat)) ?? [path]);
  }
}

/** Names and inodes of the files in a directory. */
export function fileNames(entries: readonly Dirent[]): FileNames {
  const all: [string, string][] = [];
  const linked: string[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const stat = entryAt(join(entry.parentPath, entry.name));
    if (stat?.isFile() !== true) continue;
    all.push([inodeOf(stat), entry.name]);
    if (stat.nlink > 1n) linked.push(inodeOf(stat));
  }
  return { all, linked };
}

function inodeOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}
