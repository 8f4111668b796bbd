import { closeSync, constants, linkSync, openSync, renameSync, unlinkSync } from "node:fs";
import { systemErrorCode } from "../system-error.ts";
import type { HeldDirectory } from "../workspace/files/held-directory.ts";

/** Puts a finished temporary file in the place of what is there, atomically. A link in that place is replaced, not followed. */
export function replaceFile(directory: HeldDirectory, temporary: string, name: string): void {
  directory.check();
  renameSync(directory.entry(temporary), directory.entry(name));
}

/** Puts a finished temporary file where nothing may be: throws `EEXIST` otherwise, and nothing is replaced. */
export function placeNewFile(directory: HeldDirectory, temporary: string, name: string): void {
  directory.check();
  moveToFreeName(directory.entry(temporary), directory.entry(name));
}

/** Moves a file or a link to a path where nothing may be. Throws `EEXIST`. */
export function moveToFreeName(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!lacksHardLinks.has(systemErrorCode(error) ?? "")) throw error;
    // FAT and some network file systems: claim the name first, then replace the claim. A crash in between leaves it empty.
    closeSync(openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}

/** Removes a file; nothing happens when it is not there. */
export function removeFile(directory: HeldDirectory, name: string): void {
  directory.check();
  try {
    unlinkSync(directory.entry(name));
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
  }
}

const lacksHardLinks: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);
