import { closeSync, fsyncSync } from "node:fs";
import { systemErrorCode } from "../../system-error.ts";
import { type HeldDirectory, holdDirectory } from "../files/held-directory.ts";
import { readIfPresent, writeTemporaryFile } from "../files/held-file.ts";
import { splitRelative } from "../paths/split-relative.ts";
import type { WorkspaceRoot } from "../paths/workspace-root.ts";
import { placeNewFile, removeFile, replaceFile } from "./place-file.ts";

/** What must be known of a change to undo it. */
export interface UndoableChange {
  /** Relative to the root. */
  readonly path: string;
  /** SHA-256 before and after; null where there is no file. */
  readonly before: string | null;
  readonly after: string | null;
  /** Name of the temporary file for the old content: the journal has it, in case undoing is interrupted as well. */
  readonly temporary: string;
  readonly preImage: PreImage | undefined;
}

export interface PreImage {
  readonly bytes: Uint8Array;
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

/** State of a path: as before the change, as after it, or neither, because others changed it. */
export type ChangeState = "before" | "after" | "other";

export function stateOfChange(root: WorkspaceRoot, change: UndoableChange): ChangeState {
  const { parents, name } = splitRelative(change.path);
  try {
    using directory = holdDirectory(root, parents);
    return stateIn(directory, name, change);
  } catch (error) {
    // If its directory is missing, so is the file; anything else (a link, a FIFO, no permission) was done by others.
    if (systemErrorCode(error) !== "ENOENT") return "other";
    if (change.before === null) return "before";
    return change.after === null ? "after" : "other";
  }
}

/**
 * Undoes one change, within one tick and durably. Never overwrites others' changes: then it returns false. Throws system
 * errors.
 */
export function undoChange(root: WorkspaceRoot, change: UndoableChange): boolean {
  const { parents, name } = splitRelative(change.path);
  using directory = holdDirectory(root, parents);
  const state = stateIn(directory, name, change);
  if (state !== "after") return state === "before";
  if (change.before === null) {
    removeFile(directory, name);
    return true;
  }
  if (change.preImage === undefined) return false;
  const { temporary } = change;
  removeFile(directory, temporary);
  try {
    const descriptor = writeTemporaryFile(directory, temporary, change.preImage.bytes, change.preImage);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    if (change.after === null) placeNewFile(directory, temporary, name);
    else replaceFile(directory, temporary, name);
  } finally {
    removeFile(directory, temporary);
  }
  return true;
}

function stateIn(directory: HeldDirectory, name: string, change: UndoableChange): ChangeState {
  const current = readIfPresent(directory, name)?.sha256 ?? null;
  if (current === change.before) return "before";
  return current === change.after ? "after" : "other";
}
