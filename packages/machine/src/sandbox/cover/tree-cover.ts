import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { entryAt } from "../../entry-at.ts";
import { RememberedTree } from "../../workspace/files/remembered-tree.ts";
import { isWithin } from "../host/host-layout.ts";
import { type FileNames, fileNames, LinkedFiles } from "./linked-files.ts";
import { SecretTargets } from "./secret-targets.ts";
import { UnprotectedWorkspace } from "./unprotected-workspace.ts";
import { secretLinks, zeroAccessFiles } from "./zero-access-files.ts";

/** Parts of a tree that are hidden from a command; real absolute paths. */
export interface Covered {
  /** Files that exist, by all their names, and directories that cannot be looked into. */
  readonly zeroAccess: readonly string[];
  /** Directories without whose names some of those would not be known any more, e.g. `.aws`: not to be renamed. */
  readonly kept: readonly string[];
  /** Files that have a name outside of the tree too, or directories of them. */
  readonly linkedOutside: readonly string[];
}

interface Found {
  readonly secrets: readonly string[];
  /** Links that are named as secrets. */
  readonly links: readonly string[];
  readonly names: FileNames;
}

/** Looks through a tree before each command, all of it; what did not change since the last look is remembered. */
export class TreeCover {
  readonly #root: string;
  readonly #tree: RememberedTree<Found>;
  #links = new LinkedFiles();
  readonly #targets: SecretTargets;

  /**
   * Throws `UnprotectedWorkspace`, as `SecretTargets` does.
   * @param options.targets private directory for what links of this tree named as secrets led to
   */
  constructor(root: string, { targets }: { readonly targets: string }) {
    this.#root = root;
    this.#targets = new SecretTargets(targets);
    this.#tree = new RememberedTree(root, (_directory, entries) => ({
      found: {
        secrets: zeroAccessFiles(root, entries),
        links: secretLinks(root, entries),
        names: fileNames(entries),
      },
      below: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    }));
  }

  /** Throws `UnprotectedWorkspace` rather than leave anything out. */
  look(): Covered {
    const { found, unreadable, unlisted, same } = this.#tree.walk();
    const [first] = unlisted;
    if (first !== undefined) {
      throw new UnprotectedWorkspace(
        `${first.slice(0, 300)} cannot be looked into: its name is not UTF-8, or its path too long. Move or remove it.`,
      );
    }
    if (!same) this.#links = new LinkedFiles([...found].map(([directory, { names }]) => [directory, names] as const));
    const covered = new Set(unreadable);
    const kept = new Set<string>();
    for (const { links } of found.values()) {
      // What a link leads to can change while its own directory does not.
      for (const link of links) {
        const target = targetOf(link);
        if (target !== undefined && isWithin(target, this.#root)) this.#targets.add(target, link);
      }
    }
    for (const secrets of [this.#targets.paths(), ...[...found.values()].map((each) => each.secrets)]) {
      for (const path of secrets) {
        const stat = entryAt(path);
        if (stat?.isFile() !== true) continue;
        covered.add(path);
        for (const directory of namingDirectories(this.#root, path)) kept.add(directory);
        if (stat.nlink > 1) for (const name of this.#links.namesOf(path)) covered.add(name);
      }
    }
    return { zeroAccess: [...covered], kept: [...kept].toSorted(), linkedOutside: this.#links.readOnly() };
  }
}

/** Undefined for a link that leads nowhere. */
function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

/** The directories on the way to a secret by which it is known as one. To a link's target those are all: its name says nothing. */
function namingDirectories(root: string, path: string): readonly string[] {
  const parts = relative(root, path).split("/");
  const naming: string[] = [];
  if (parts.at(-1) === ".npmrc") return naming;
  let needed = parts;
  for (let at = parts.length - 2; at >= 0; at -= 1) {
    const without = needed.with(at, "x");
    if (secretPath(without.join("/")) === undefined) naming.push(join(root, ...parts.slice(0, at + 1)));
    else needed = without;
  }
  return naming;
}
