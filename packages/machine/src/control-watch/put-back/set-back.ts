import { closeSync, lstatSync, realpathSync, rmdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { entryAt } from "../../entry-at.ts";
import { hasCode, systemErrorCode } from "../../system-error.ts";
import { placeNewFile, removeFile } from "../../workspace/change/place-file.ts";
import { type HeldDirectory, holdDirectory } from "../../workspace/files/held-directory.ts";
import { temporaryName, writeTemporaryFile } from "../../workspace/files/held-file.ts";
import { splitRelative } from "../../workspace/paths/split-relative.ts";
import type { WorkspaceRoot } from "../../workspace/paths/workspace-root.ts";
import type { ControlState } from "../state/control-state.ts";
import type { KeptBytes } from "../state/kept-bytes.ts";
import type { Aside } from "./aside.ts";
import { letOwnerIn } from "./let-owner-in.ts";

type KeptReader = Pick<KeptBytes, "read" | "readCopy">;

/** How often a file that is put back may come again, before it counts as one that cannot be. */
const maxSaves = 5;

/**
 * Restores paths below a root. What is there now is moved aside, never deleted: it may be the user's. Follows no link, even if
 * a directory was replaced by one, and works despite restrictive directory modes.
 */
export class SetBack {
  readonly #root: WorkspaceRoot;
  readonly #bytes: KeptReader;
  readonly #aside: Aside;
  /** What could not be moved out of the tree. Absolute paths. */
  readonly #inTree: string[] = [];

  constructor(root: WorkspaceRoot, options: { readonly bytes: KeptReader; readonly aside: Aside }) {
    this.#root = root;
    this.#bytes = options.bytes;
    this.#aside = options.aside;
  }

  /** Below a directory by its path. Throws where that leads elsewhere by now, as a link to another repository does. */
  static at(directory: string, options: { readonly bytes: KeptReader; readonly aside: Aside }): SetBack {
    if (realpathSync(directory) !== directory) throw new Error(`${directory} leads elsewhere`);
    const { dev: device, ino: inode } = lstatSync(directory);
    return new SetBack({ path: directory, device, inode }, options);
  }

  /**
   * Throws if it cannot be restored; then it stays as it is. What is in the place of a file that was never kept is moved aside.
   *
   * @param path absolute, below the root
   * @returns empty, or a text that says what could not be moved out of the tree, and where it is
   */
  to(path: string, state: ControlState | undefined): string {
    this.#inTree.length = 0;
    // Before anything is moved: what was kept and is damaged leaves the path as it is.
    const file = this.#kept(state);
    const name = relative(this.#root.path, path);
    const { parents, name: last } = splitRelative(name);
    // One that moves elsewhere has to be writable itself: its `..` changes.
    letOwnerIn(this.#root, [...parents, last]);
    if (state?.type === "directory") {
      this.#hold([...parents, last])[Symbol.dispose]();
      return this.#lying();
    }
    if (state === undefined && entryAt(path) === undefined) return "";
    // Even if a link out of the workspace replaced a directory.
    using directory = this.#hold(parents);
    if (file !== undefined) {
      this.#placeFile(directory, { name, last, ...file });
      return this.#lying();
    }
    this.#moveAside(name);
    if (state?.type === "link") symlinkSync(state.target, directory.entry(last));
    if (state?.type === "other")
      throw new Error(
        `what was there was not kept, being too large or no plain file; what the command left was moved aside${this.#lying()}`,
      );
    return this.#lying();
  }

  #kept(state: ControlState | undefined): { readonly mode: number; readonly bytes: Uint8Array } | undefined {
    if (state?.type === "file") return { mode: state.mode, bytes: this.#bytes.read(state.sha256) };
    if (state?.type !== "other" || state.mode === undefined) return undefined;
    const bytes = this.#bytes.readCopy(state.identity);
    return bytes && { mode: state.mode, bytes };
  }

  #lying(): string {
    return this.#inTree.length === 0 ? "" : `; what could not be moved out of there lies in ${this.#inTree.join(", ")}`;
  }

  /** Moves the present file aside only after the new one is written: a full disk must not cost it. */
  #placeFile(
    directory: HeldDirectory,
    file: { readonly name: string; readonly last: string; readonly mode: number; readonly bytes: Uint8Array },
  ): void {
    const temporary = temporaryName();
    const like = { mode: file.mode, owner: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
    closeSync(writeTemporaryFile(directory, temporary, file.bytes, like));
    try {
      for (let saves = 0; ; saves += 1) {
        // Again, in case it was saved in between.
        this.#moveAside(file.name);
        try {
          placeNewFile(directory, temporary, file.last);
          return;
        } catch (error) {
          if (saves === maxSaves || !hasCode(error, "EEXIST")) throw error;
        }
      }
    } catch (error) {
      removeFile(directory, temporary);
      throw error;
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

  /** The directory, created if missing; what is in its way is moved aside. */
  #hold(components: readonly string[]): HeldDirectory {
    for (let depth = 1; depth <= components.length; depth += 1) {
      const above = components.slice(0, depth).join("/");
      const stat = entryAt(join(this.#root.path, above));
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
      using top = holdDirectory(this.#root, []);
      const stays = this.#aside.take(from, { name: path, top: top.path });
      if (stays !== undefined) this.#inTree.push(join(this.#root.path, stays));
    } catch (error) {
      const code = systemErrorCode(error);
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    }
  }
}
