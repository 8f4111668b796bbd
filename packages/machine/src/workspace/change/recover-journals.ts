import { lstatSync } from "node:fs";
import { holdDirectory } from "../files/held-directory.ts";
import { splitRelative } from "../paths/split-relative.ts";
import type { WorkspaceRoot } from "../paths/workspace-root.ts";
import { abandonedJournals, type ChangeJournal, type JournalledChange, removeJournal } from "./change-journal.ts";
import { removeEmptyDirectories } from "./made-directories.ts";
import { removeFile } from "./place-file.ts";
import { type ChangeState, stateOfChange, type UndoableChange, undoChange } from "./undo-change.ts";

/**
 * Cleans up after servers that died within an `apply`; call it at start, before any workspace is opened. Removes left-over
 * temporary files. Changes that were made in part are taken back when every file is exactly as the dead server left it;
 * otherwise nothing is touched, the journal with the contents from before stays, and each start reports `partial` again.
 * Journals of servers that still run are left alone.
 *
 * @param options.rollBack false: only reports, e.g. when a person is to decide; true by default
 */
export function recoverWorkspaceJournals(
  stateDir: string,
  options: { readonly rollBack?: boolean } = {},
): readonly RecoveredJournal[] {
  return abandonedJournals(stateDir).flatMap(({ path, journal, isOfThisBoot }) => {
    const [only, ...others] = journal?.changes ?? [];
    if (journal !== undefined && only !== undefined && others.length === 0 && !isOfThisBoot) {
      // The change may have ended long before. Its file is whole either way.
      if (inPlace(journal.root)) removeTemporary(journal.root, only);
      removeJournal(path);
      return [];
    }
    if (journal === undefined) return { journalPath: path, root: undefined, state: "unreadable", files: [] };
    const recovered = recover(journal, options.rollBack ?? true);
    if (recovered.state !== "partial" && recovered.state !== "unreachable") removeJournal(path);
    return { journalPath: path, root: journal.root.path, ...recovered };
  });
}

export interface RecoveredJournal {
  readonly journalPath: string;
  /** Path of the workspace. */
  readonly root: string | undefined;
  /**
   * `not_started`: every file is as before. `completed`: every file is as after. `rolled_back`: some files had been changed; all
   * are as before now. `partial`: some changes remain, because others changed a file since, or because rolling back failed or was
   * not wanted; the journal stays. `changed_since`: the only file was changed by others since; whether the change was made is
   * unknown. `unreachable`: the workspace is missing or another directory; the journal stays. `unreadable`: the journal is
   * damaged and stays.
   */
  readonly state:
    | "not_started"
    | "completed"
    | "rolled_back"
    | "partial"
    | "changed_since"
    | "unreachable"
    | "unreadable";
  /** The files as found, before anything was taken back. */
  readonly files: readonly { readonly path: string; readonly state: ChangeState }[];
}

function recover(journal: ChangeJournal, rollBack: boolean): Pick<RecoveredJournal, "state" | "files"> {
  const { root } = journal;
  if (!inPlace(root)) return { state: "unreachable", files: [] };
  for (const change of journal.changes) removeTemporary(root, change);
  const files = journal.changes.map((change) => ({
    path: change.path,
    state: stateOfChange(root, undoable(change)),
  }));
  const states = new Set(files.map(({ state }) => state));
  if (!states.has("after") && !states.has("other")) {
    removeEmptyDirectories(root, journal.directories);
    return { state: "not_started", files };
  }
  if (!states.has("before") && !states.has("other")) return { state: "completed", files };
  if (journal.changes.length === 1) return { state: "changed_since", files };
  if (!rollBack || states.has("other")) return { state: "partial", files };
  return { state: undoAll(journal) ? "rolled_back" : "partial", files };
}

function undoAll(journal: ChangeJournal): boolean {
  let complete = true;
  for (const change of journal.changes.toReversed()) {
    try {
      if (stateOfChange(journal.root, undoable(change)) === "before") continue;
      complete = undoChange(journal.root, undoable(change)) && complete;
    } catch {
      complete = false;
    }
  }
  if (complete) removeEmptyDirectories(journal.root, journal.directories);
  return complete;
}

function undoable(change: JournalledChange): UndoableChange {
  const { path, before, after, temporary, preImage } = change;
  return {
    path,
    before,
    after,
    temporary,
    preImage: preImage === null ? undefined : { ...preImage, bytes: Buffer.from(preImage.bytes, "base64") },
  };
}

function inPlace(root: WorkspaceRoot): boolean {
  try {
    const stat = lstatSync(root.path);
    return stat.isDirectory() && stat.dev === root.device && stat.ino === root.inode;
  } catch {
    return false;
  }
}

function removeTemporary(root: WorkspaceRoot, change: JournalledChange): void {
  try {
    using directory = holdDirectory(root, splitRelative(change.path).parents);
    removeFile(directory, change.temporary);
  } catch {
    // If its directory is missing, so is the file.
  }
}
