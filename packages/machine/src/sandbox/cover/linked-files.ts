import { type Dirent } from "node:fs";
import { join } from "node:path";
import { entryAt } from "../../entry-at.ts";
import { UnprotectedWorkspace } from "./unprotected-workspace.ts";

/** The names and inodes of the files in a directory. */
export interface FileNames {
  readonly all: readonly (readonly [inode: string, name: string])[];
  /** Inodes of the files that have more than one name. */
  readonly linked: readonly string[];
}

/** If more files than this have names outside, their packages' directories are mounted instead. */
const maxSingle = 200;
const maxMounts = 1_000;
/** Directories whose parts package managers link to a store that all projects share. */
const shared = /^(.*?\/(?:node_modules|\.?venv|site-packages|\.pnpm-store)\/[^/]+)\//;
/** Git never writes to a loose object, and must be able to write to the directory. */
const looseObject = /\/\.git\/(?:.*\/)?objects\/[0-9a-f]{2}\//;

/** Files of a tree that have several names. If a name is outside the tree, writing to the file changes it there as well. */
export class LinkedFiles {
  readonly #names = new Map<string, string[]>();
  readonly #outside: readonly string[];

  /** @param found the names in each directory of the tree, by its absolute path */
  constructor(found: Iterable<readonly [directory: string, names: FileNames]> = []) {
    for (const [, { linked }] of found) for (const inode of linked) this.#names.set(inode, []);
    for (const [directory, { all }] of found) {
      for (const [inode, name] of all) this.#names.get(inode)?.push(join(directory, name));
    }
    this.#outside = [...this.#names.values()].filter(hasMoreNames).flat();
  }

  /** All names of a file in the tree. */
  namesOf(path: string): readonly string[] {
    const stat = entryAt(path);
    return stat === undefined ? [] : (this.#names.get(inodeOf(stat)) ?? [path]);
  }

  /**
   * What to mount read-only, so that no file changes that also has a name elsewhere: files, and directories of packages from a
   * shared store. Throws `UnprotectedWorkspace` if these are too many.
   */
  readOnly(): readonly string[] {
    const files = this.#outside.filter((path) => !looseObject.test(path));
    // The other name may be gone by now, which only the file itself shows.
    const isFew = files.length <= maxSingle;
    const paths = isFew
      ? files.filter((path) => hasMoreNames(this.namesOf(path)))
      : [...new Set(files.map((path) => shared.exec(path)?.[1] ?? path))];
    if (paths.length <= maxMounts) return paths;
    throw new UnprotectedWorkspace(
      `${files.length} files in it have a second name outside (hard links), e.g. ${files[0]}. Copy them instead of linking.`,
    );
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

/** True if a file has other names besides these. */
function hasMoreNames(paths: readonly string[]): boolean {
  const [path] = paths;
  return path !== undefined && (entryAt(path)?.nlink ?? 0) > paths.length;
}

function inodeOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}
