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
  /** Existing files, under all their names, and directories that cannot be read. */
  readonly zeroAccess: readonly string[];
  /** Directories whose names identify some of these as secrets, e.g. `.aws`: they must not be renamed. */
  readonly kept: readonly string[];
  /** Files that also have a name outside of the tree, or directories of such files. */
  readonly linkedOutside: readonly string[];
}

interface Found {
  readonly secrets: readonly string[];
  /** Links that are named as secrets. */
  readonly links: readonly string[];
  readonly names: FileNames;
}

/** Examines the whole tree before each command; remembers what did not change. */
export class TreeCover {
  readonly #root: string;
  readonly #tree: RememberedTree<Found>;
  #links = new LinkedFiles();
  readonly #targets: SecretTargets;

  /**
   * Throws `UnprotectedWorkspace`, as `SecretTargets` does.
   * @param options.targets private directory for the targets of this tree's links that are named as secrets
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
      // The target of a link can change while the link's own directory does not.
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

/** Undefined if the target does not exist. */
function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

/**
 * The directories above a secret whose names identify it as one. For a link's target all of them, because its name says nothing.
 */
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
