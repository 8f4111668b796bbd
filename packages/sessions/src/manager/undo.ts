import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import { ServiceError } from "@gennai/machine/service-error";
import type { Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { BlobStore } from "@gennai/store/log/session-log";
import { refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { ChangeSet, SessionState } from "../session/state/session-state.ts";

/** Maximum size of a file that is checked before it is undone; bytes. */
const maxBytes = 64 * 1024 * 1024;
/** Maximum files named in a refusal. */
const maxNamed = 5;

/**
 * Undoes a change set, by default the newest: all of its files or none. Each file must still be as the change set left it, so a
 * user's later changes are never overwritten. Throws `ServiceError`.
 */
export async function undoChangeSet(
  session: Session,
  changeSetId?: string,
): Promise<{ readonly changeSetId: string; readonly files: readonly FileChangeRecord[] }> {
  session.refuseWhileRunning("undo");
  // Another process may have newer changes, or run a turn.
  await session.catchUp();
  refuseInEmergency(session, "Nothing was taken back", { name: "UndoChangeSet", statement: "Take a change set back" });
  const changeSet = changeSetToUndo(session.state, changeSetId);
  const files = await writeBefore(netChanges(changeSet.files), session.workspace, session.services.blobs);
  const undone = { changeSetId: changeSet.changeSetId, files };
  await session.decided(
    [{ type: "change-set-undone", ...undone }],
    "undo",
    { changeSetId: undone.changeSetId },
    undone.files,
  );
  return undone;
}

function changeSetToUndo(state: SessionState, changeSetId: string | undefined): ChangeSet {
  const changeSet =
    changeSetId === undefined
      ? [...state.changeSets.values()].reverse().find(({ undone }) => !undone)
      : state.changeSets.get(changeSetId);
  if (changeSet === undefined) throw new ServiceError("not_found", "There is no change set to take back.");
  if (changeSet.undone) throw new ServiceError("failed_precondition", "This change set was taken back already.");
  return changeSet;
}

/** Writes the earlier content; resolves with the changes made. */
async function writeBefore(
  files: readonly FileChangeRecord[],
  workspace: Workspace,
  blobs: BlobStore,
): Promise<readonly FileChangeRecord[]> {
  const changes: WorkspaceChange[] = [];
  const changedSince: string[] = [];
  for (const file of files) {
    const path = await workspace.resolve(file.path);
    const now = (await workspace.stat(path)) && (await workspace.read(path, { maxBytes }));
    // A server that stopped had already written this, but not recorded it.
    if (now?.sha256 === file.beforeSha256) continue;
    if (now?.sha256 !== file.afterSha256) {
      changedSince.push(file.path);
      continue;
    }
    if (file.beforeSha256 === undefined) {
      if (now !== undefined) {
        const { madeDirectories: emptied = [] } = file;
        changes.push({ operation: "delete", path, baseSha256: now.sha256, emptied });
      }
      continue;
    }
    const bytes = await blobs.get(file.beforeSha256);
    if (bytes === undefined) {
      throw new ServiceError("failed_precondition", `The earlier content of ${file.path} is no longer stored.`, {
        reason: "content_gone",
        hint: "Restore the file by git.",
      });
    }
    const mode = file.beforeMode === undefined ? {} : { mode: file.beforeMode };
    changes.push(
      now === undefined
        ? { operation: "create", path, bytes, ...mode }
        : { operation: "update", path, bytes, baseSha256: now.sha256, ...mode },
    );
  }
  if (changedSince.length > 0) {
    const named = changedSince.slice(0, maxNamed).join(", ");
    const more = changedSince.length > maxNamed ? ` and ${changedSince.length - maxNamed} more` : "";
    throw new ServiceError("failed_precondition", `${named}${more} changed since, so nothing was taken back.`, {
      reason: "changed_since",
      hint: "Undo your own change to it first, or restore the file by git.",
    });
  }
  await workspace.apply(changes);
  return files.map(({ path, beforeSha256, afterSha256 }) => ({
    path,
    operation: beforeSha256 === undefined ? "delete" : afterSha256 === undefined ? "create" : "update",
    ...(afterSha256 === undefined ? {} : { beforeSha256: afterSha256 }),
    ...(beforeSha256 === undefined ? {} : { afterSha256: beforeSha256 }),
  }));
}

/** Reduces changes to the first and last state of each file; unchanged files are dropped. */
function netChanges(files: readonly FileChangeRecord[]): readonly FileChangeRecord[] {
  const net = new Map<string, FileChangeRecord>();
  for (const file of files) {
    const first = net.get(file.path);
    const { afterSha256 } = file;
    const { beforeSha256, beforeMode, madeDirectories } = first ?? file;
    const merged: FileChangeRecord = {
      path: file.path,
      operation: file.operation,
      ...(beforeSha256 === undefined ? {} : { beforeSha256 }),
      ...(beforeMode === undefined ? {} : { beforeMode }),
      ...(madeDirectories === undefined ? {} : { madeDirectories }),
      ...(afterSha256 === undefined ? {} : { afterSha256 }),
    };
    net.set(file.path, merged);
  }
  return [...net.values()].filter((file) => file.beforeSha256 !== file.afterSha256);
}
