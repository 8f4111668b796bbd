import { mkdirSync, rmdirSync } from "node:fs";
import { systemErrorCode } from "../system-error.ts";
import { fileFailure } from "../workspace/files/file-failure.ts";
import { type HeldDirectory, holdDirectory } from "../workspace/files/held-directory.ts";
import { componentsOf, splitRelative } from "../workspace/paths/split-relative.ts";
import type { WorkspaceRoot } from "../workspace/paths/workspace-root.ts";

/** The directories that new files need and that are not there yet. */
export class MadeDirectories implements Disposable {
  /** Relative to the root, outermost first. */
  readonly paths: readonly string[];
  readonly #root: WorkspaceRoot;
  readonly #parents: HeldDirectory[] = [];
  readonly #made: string[] = [];

  constructor(
    root: WorkspaceRoot,
    changes: readonly { readonly operation: string; readonly parents: readonly string[] }[],
  ) {
    this.#root = root;
    const missing = new Set<string>();
    for (const { operation, parents } of changes) {
      if (operation !== "create") continue;
      for (const path of missingOf(root, parents)) missing.add(path);
    }
    this.paths = [...missing].sort((a, b) => a.length - b.length);
  }

  /**
   * Creates them, each through its held parent. Uses a directory that others created meanwhile, and does not remove that later.
   */
  make(): void {
    for (const path of this.paths) {
      const { parents, name } = splitRelative(path);
      try {
        const parent = holdDirectory(this.#root, parents);
        this.#parents.push(parent);
        mkdirSync(parent.entry(name));
        this.#made.push(path);
      } catch (error) {
        if (systemErrorCode(error) !== "EEXIST") throw fileFailure(error, "create", path);
      }
    }
  }

  /** Those of the directories that are above a path. */
  above(path: string): readonly string[] {
    return this.paths.filter((made) => path.startsWith(`${made}/`));
  }

  async sync(): Promise<void> {
    for (const parent of this.#parents) await parent.sync();
  }

  /** Removes the directories that it made, if they are empty. */
  remove(): void {
    removeEmptyDirectories(this.#root, this.#made);
  }

  [Symbol.dispose](): void {
    for (const parent of this.#parents.splice(0)) parent[Symbol.dispose]();
  }
}

/** @param paths relative to the root, outermost first */
export function removeEmptyDirectories(root: WorkspaceRoot, paths: readonly string[]): void {
  for (const path of paths.toReversed()) {
    const { parents, name } = splitRelative(path);
    try {
      using parent = holdDirectory(root, parents);
      rmdirSync(parent.entry(name));
    } catch {
      // Not empty, gone, or replaced by others: then it stays.
    }
  }
}

function missingOf(root: WorkspaceRoot, parents: readonly string[]): string[] {
  const missing: string[] = [];
  for (let depth = parents.length; depth > 0; depth -= 1) {
    const path = parents.slice(0, depth).join("/");
    try {
      holdDirectory(root, componentsOf(path))[Symbol.dispose]();
      break;
    } catch (error) {
      if (systemErrorCode(error) !== "ENOENT") throw fileFailure(error, "create", path);
      missing.push(path);
    }
  }
  return missing;
}
