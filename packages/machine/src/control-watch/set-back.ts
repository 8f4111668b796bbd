import { closeSync, lstatSync, realpathSync, rmdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { hasCode, systemErrorCode } from "../system-error.ts";
import { placeNewFile, removeFile } from "../workspace/change/place-file.ts";
import { type HeldDirectory, holdDirectory } from "../workspace/held-directory.ts";
import { temporaryName, writeTemporaryFile } from "../workspace/held-file.ts";
import { splitRelative } from "../workspace/split-relative.ts";
import type { WorkspaceRoot } from "../workspace/workspace-root.ts";
import type { ControlState } from "./control-state.ts";
import type { KeptBytes } from "./kept-bytes.ts";
import { letOwnerIn } from "./let-owner-in.ts";
import { moveAside } from "./move-aside.ts";

/** How often a file that is put back may come again, before it counts as one that cannot be. */
const maxSaves = 5;

/**
 * Sets paths below a root back to what they were. What stands there now is moved aside, never deleted: it may be the user's.
 * Follows no link, also where a directory was replaced by one, and is not kept out by modes of directories.
 */
export class SetBack {
  readonly #root: WorkspaceRoot;
  readonly #bytes: Pick<KeptBytes, "read">;
  readonly #aside: string;

  /** @param options.aside private directory for what is moved away; made when there is something */
  constructor(root: WorkspaceRoot, options: { readonly bytes: Pick<KeptBytes, "read">; readonly aside: string }) {
    this.#root = root;
    this.#bytes = options.bytes;
    this.#aside = options.aside;
  }

  /** Below a directory by its path. Throws where that leads elsewhere by now, as a link to another repository does. */
  static at(directory: string, options: { readonly bytes: Pick<KeptBytes, "read">; readonly aside: string }): SetBack {
    if (realpathSync(directory) !== directory) throw new Error(`${directory} leads elsewhere`);
    const { dev: device, ino: inode } = lstatSync(directory);
    return new SetBack({ path: directory, device, inode }, options);
  }

  /** @param path absolute, below the root */
  to(path: string, state: ControlState | undefined): void {
    const name = relative(this.#root.path, path);
    const { parents, name: last } = splitRelative(name);
    // One that moves elsewhere has to be writable itself: its `..` changes.
    letOwnerIn(this.#root, [...parents, last]);
    if (state?.type === "directory") {
      this.#hold([...parents, last])[Symbol.dispose]();
      return;
    }
    if (state === undefined && lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
    // Also where a link out of the workspace stands in place of a directory.
    using directory = this.#hold(parents);
    this.#moveAside(name);
    if (state === undefined) return;
    if (state.type === "other") throw new Error("it was too large to be kept");
    if (state.type === "link") {
      symlinkSync(state.target, directory.entry(last));
      return;
    }
    const temporary = temporaryName();
    const owner = { mode: state.mode, owner: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
    closeSync(writeTemporaryFile(directory, temporary, this.#bytes.read(state.sha256), owner));
    for (let saves = 0; ; saves += 1) {
      try {
        placeNewFile(directory, temporary, last);
        return;
      } catch (error) {
        if (saves === maxSaves || !hasCode(error, "EEXIST")) {
          removeFile(directory, temporary);
          throw error;
        }
        // Somebody saved it in between.
        this.#moveAside(name);
      }
    }
  }

  /** Removes a directory that is empty. */
  removeEmpty(path: string): void {
    const { parents, name } = splitRelative(relative(this.#root.path, path));
    try {
      using directory = holdDirectory(this.#root, parents);
      rmdirSync(directory.entry(name));
    } catch (error) {
      if (!["ENOTEMPTY", "ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) throw error;
    }
  }

  /** The directory, made where it is missing; what stands in its way is moved aside. */
  #hold(components: readonly string[]): HeldDirectory {
    for (let depth = 1; depth <= components.length; depth += 1) {
      const above = components.slice(0, depth).join("/");
      const stat = lstatSync(join(this.#root.path, above), { throwIfNoEntry: false });
      if (stat !== undefined && !stat.isDirectory()) this.#moveAside(above);
    }
    return holdDirectory(this.#root, components, { create: true });
  }

  #moveAside(path: string): void {
    const { parents, name } = splitRelative(path);
    try {
      using directory = holdDirectory(this.#root, parents);
      const from = directory.entry(name);
      lstatSync(from);
      moveAside(from, join(this.#aside, path));
    } catch (error) {
      const code = systemErrorCode(error);
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    }
  }
}
