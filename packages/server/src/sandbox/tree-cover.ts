import { lstatSync } from "node:fs";
import { RememberedTree } from "../workspace/remembered-tree.ts";
import { type FileNames, fileNames, LinkedFiles } from "./linked-files.ts";
import { UnprotectedWorkspace } from "./unprotected-workspace.ts";
import { zeroAccessFiles } from "./zero-access-files.ts";

/** What of a tree is kept from a command; real absolute paths. */
export interface Covered {
  /** Files that exist, by all their names, and directories that cannot be looked into. */
  readonly zeroAccess: readonly string[];
  /** Files that have a name outside of the tree too, or directories of them. */
  readonly linkedOutside: readonly string[];
}

interface Found {
  readonly secrets: readonly string[];
  readonly names: FileNames;
}

/** Looks through a tree before each command, all of it; what did not change since the last look is remembered. */
export class TreeCover {
  readonly #tree: RememberedTree<Found>;
  #links = new LinkedFiles();

  constructor(root: string) {
    this.#tree = new RememberedTree(root, (_directory, entries) => ({
      found: { secrets: zeroAccessFiles(root, entries), names: fileNames(entries) },
      below: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    }));
  }

  /** Throws `UnprotectedWorkspace` rather than leave anything out. */
  look(): Covered {
    const { found, unreadable, unlisted, same } = this.#tree.walk();
    const [first] = unlisted;
    if (first !== undefined) {
      throw new UnprotectedWorkspace(
        `${first.slice(0, 300)} cannot be looked into: its name is no UTF-8, or its path too long. Move or remove it.`,
      );
    }
    if (!same) this.#links = new LinkedFiles([...found].map(([directory, { names }]) => [directory, names] as const));
    const covered = new Set(unreadable);
    for (const { secrets } of found.values()) {
      for (const path of secrets) {
        const stat = lstatSync(path, { throwIfNoEntry: false });
        if (stat?.isFile() !== true) continue;
        covered.add(path);
        if (stat.nlink > 1) for (const name of this.#links.namesOf(path)) covered.add(name);
      }
    }
    return { zeroAccess: [...covered], linkedOutside: this.#links.readOnly() };
  }
}
