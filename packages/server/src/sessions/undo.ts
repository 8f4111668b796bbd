import type { FileChangeRecord } from "@gennai/agent/proposal";
import { ServiceError } from "../service-error.ts";
import type { Workspace, WorkspaceChange } from "../workspace/workspace.ts";
import type { BlobStore } from "./log/session-log.ts";
import type { SessionState } from "./session-state.ts";

/** Largest file that is checked before it is taken back; bytes. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Takes back a change set, all of its files or none. Each file must still be as the change set left it: what a person
 * changed since is never overwritten.
 */
export async function undoChangeSet(
  state: SessionState,
  workspace: Workspace,
  blobs: BlobStore,
  changeSetId?: string,
): Promise<{ readonly changeSetId: string; readonly files: readonly FileChangeRecord[] }> {
  const changeSet =
    changeSetId === undefined || changeSetId === ""
      ? [...state.changeSets.values()].reverse().find(({ undone }) => !undone)
      : state.changeSets.get(changeSetId);
  if (changeSet === undefined) throw new ServiceError("not_found", "There is no change set to take back.");
  if (changeSet.undone) throw new ServiceError("failed_precondition", "This change set was taken back already.");

  const files = netChanges(changeSet.files);
  const changes: WorkspaceChange[] = [];
  for (const file of files) {
    const path = await workspace.resolve(file.path);
    const now = (await workspace.stat(path)) && (await workspace.read(path, { maxBytes }));
    // A server that went away had written this already, and had not come to record it.
    if (now?.sha256 === file.beforeSha256) continue;
    if (now?.sha256 !== file.afterSha256) {
      throw new ServiceError("failed_precondition", `${file.path} changed since, so nothing was taken back.`, {
        hint: "Undo your own change to it first, or restore the file by git.",
      });
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
  await workspace.apply(changes);
  return {
    changeSetId: changeSet.changeSetId,
    files: files.map(({ path, beforeSha256, afterSha256 }) => ({
      path,
      operation: beforeSha256 === undefined ? "delete" : afterSha256 === undefined ? "create" : "update",
      ...(afterSha256 === undefined ? {} : { beforeSha256: afterSha256 }),
      ...(beforeSha256 === undefined ? {} : { afterSha256: beforeSha256 }),
    })),
  };
}

/** From the first state of each file to its last; files that end as they began drop out. */
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
