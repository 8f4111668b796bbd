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

/** How often a file may reappear while it is put back, before that counts as failed. */
const maxSaves = 5;

/**
 * Restores paths below a root. What is there now is moved aside, never deleted: it may be the user's. Follows no link, even if
 * a directory was replaced by one, and works despite restrictive directory modes.
 */
export class SetBack {
  readonly #root: WorkspaceRoot;
  readonly #bytes: KeptReader;
  readonly #aside: Aside;
  /** Absolute paths of what could not be moved out of the tree. */
  readonly #inTree: string[] = [];

  constructor(root: WorkspaceRoot, options: { readonly bytes: KeptReader; readonly aside: Aside }) {
    this.#root = root;
    this.#bytes = options.bytes;
    this.#aside = options.aside;
  }

  /** Restores below a directory. Throws if its path now leads elsewhere, as a link to another repository does. */
  static at(directory: string, options: { readonly bytes: KeptReader; readonly aside: Aside }): SetBack {
    if (realpathSync(directory) !== directory) throw new Error(`${directory} leads elsewhere`);
    const { dev: device, ino: inode } = lstatSync(directory);
    return new SetBack({ path: directory, device, inode }, options);
  }

  /**
   * Restores one path. Throws if that is impossible; the path then stays as it is, except that an entry in place of a file whose
   * bytes were never kept is moved aside.
   *
   * @param path absolute, below the root
   * @returns empty, or a text that says what could not be moved out of the tree, and where it is
   */
  to(path: string, state: ControlState | undefined): string {
    this.#inTree.length = 0;
    // Read before anything is moved: if the kept bytes are damaged, the path stays as it is.
    const file = this.#kept(state);
    const name = relative(this.#root.path, path);
    const { parents, name: last } = splitRelative(name);
    // Moving a directory writes to the directory itself: its `..` changes.
    letOwnerIn(this.#root, [...parents, last]);
    if (state?.type === "directory") {
      this.#hold([...parents, last])[Symbol.dispose]();
      return this.#lying();
    }
    if (state === undefined && entryAt(path) === undefined) return "";
    // Held, so that a link out of the workspace in place of a directory is not followed.
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

  /** Writes the new file before it moves the present one aside: a full disk must not cost a file. */
  #placeFile(
    directory: HeldDirectory,
    file: { readonly name: string; readonly last: string; readonly mode: number; readonly bytes: Uint8Array },
  ): void {
    const temporary = temporaryName();
    const like = { mode: file.mode, owner: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
    closeSync(writeTemporaryFile(directory, temporary, file.bytes, like));
    try {
      for (let saves = 0; ; saves += 1) {
        // Again, in case the file was saved in between.
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

  /** Removes an empty directory. */
  removeEmpty(path: string): void {
    const { parents, name } = splitRelative(relative(this.#root.path, path));
    try {
      using directory = holdDirectory(this.#root, parents);
      rmdirSync(directory.entry(name));
    } catch (error) {
      if (!["ENOTEMPTY", "ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) throw error;
    }
  }

  /** Holds the directory; creates what is missing, and moves aside what is in its way. */
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
