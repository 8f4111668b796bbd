import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { RefMove } from "@gennai/governance/tool";
import { takeRefsBack } from "@gennai/machine/git/take-refs-back";
import { ServiceError } from "@gennai/machine/service-error";
import type { WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import type { BlobStore } from "@gennai/store/log/session-log";
import { presentFile, restoreRoot } from "../restore/present-files.ts";
import { refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { ChangeSet, SessionState } from "../session/state/session-state.ts";
import { WorkingTreeClaim } from "../session/working-tree-claim.ts";

/** Maximum size of a file whose content is held to undo a change of it; larger ones are only compared and removed. Bytes. */
const maxBytes = 64 * 1024 * 1024;
/** Maximum files named in a refusal. */
const maxNamed = 5;

/**
 * Undoes a change set, by default the newest: all of its files or none, except those whose earlier content is kept nowhere. Each
 * file must still be as the change set left it, so a user's later changes are never overwritten. Throws `ServiceError`.
 */
export async function undoChangeSet(
  session: Session,
  changeSetId?: string,
): Promise<UndoneFiles & { readonly changeSetId: string; readonly refs: readonly string[] }> {
  const { services, workspace } = session;
  session.refuseWhileRunning("undo");
  using tree = new WorkingTreeClaim(services.locks, workspace.place, session.id);
  const claim = await tree.claim();
  if (claim.type === "held") {
    throw new ServiceError(
      "failed_precondition",
      `Nothing was taken back: the working tree is in use by ${claim.by}.`,
      {
        reason: "tree_in_use",
        hint: "Wait for the end of that turn, or stop it.",
      },
    );
  }
  // Another process may have newer changes, or run a turn.
  await session.catchUp();
  refuseInEmergency(session, "Nothing was taken back", { name: "UndoChangeSet", statement: "Take a change set back" });
  const changeSet = changeSetToUndo(session.state, changeSetId);
  const { files, skipped } = await writeBefore(netChanges(changeSet.files), session);
  const moves = netMoves(changeSet.refs);
  const all = moves.map(({ name }) => name);
  // With files that stay, the commit that holds them stays too. If git cannot run, the files are back nevertheless.
  const stay = skipped.length > 0 ? all : await takeRefsBack(workspace.controlRoot, moves).catch(() => all);
  const refs = moves.filter(({ name }) => !stay.includes(name));
  const undone = { changeSetId: changeSet.changeSetId, files };
  await session.decided(
    [{ type: "change-set-undone", ...undone }],
    "undo",
    {
      changeSetId: undone.changeSetId,
      ...(refs.length === 0 ? {} : { refs: refs.map(({ name, from, to }) => ({ name, from: to, to: from })) }),
    },
    undone.files,
  );
  const left = stay.map((path): SkippedFile => ({ path, reason: "changed_since" }));
  return { ...undone, skipped: [...skipped, ...left], refs: refs.map(({ name }) => name) };
}

interface UndoneFiles {
  readonly files: readonly FileChangeRecord[];
  readonly skipped: readonly SkippedFile[];
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
async function writeBefore(all: readonly FileChangeRecord[], session: Session): Promise<UndoneFiles> {
  const { workspace, services } = session;
  const earlier = await earlierContents(all, services.blobs);
  const files = all.filter((file) => earlier.has(file));
  const skipped = all
    .filter((file) => !earlier.has(file))
    .map(({ path }): SkippedFile => ({ path, reason: "not_kept" }));
  const [lost] = skipped;
  if (lost !== undefined && files.length === 0) {
    throw new ServiceError("failed_precondition", `The earlier content of ${lost.path} is not stored.`, {
      reason: "content_gone",
      hint: "Restore the file by git.",
    });
  }
  const changes: WorkspaceChange[] = [];
  const changedSince: string[] = [];
  for (const file of files) {
    const path = await workspace.resolve(file.path, { isRecorded: true });
    const stat = await workspace.stat(path);
    const isLarge = stat?.kind === "file" && stat.size > maxBytes && workspace.client === undefined;
    const now = isLarge
      ? await largeFile(session, path.relative)
      : stat && (await workspace.read(path, { maxBytes })).sha256;
    // A server that stopped had already written this, but not recorded it.
    if (now === file.beforeSha256) continue;
    if (now !== file.afterSha256) {
      changedSince.push(file.path);
      continue;
    }
    const bytes = earlier.get(file);
    const mode = file.beforeMode === undefined ? {} : { mode: file.beforeMode };
    if (bytes !== undefined) {
      const made = { path, bytes, ...mode };
      changes.push(
        now === undefined ? { operation: "create", ...made } : { operation: "update", ...made, baseSha256: now },
      );
    } else if (now !== undefined) {
      changes.push({ operation: "delete", path, baseSha256: now, emptied: file.madeDirectories ?? [] });
    }
  }
  if (changedSince.length > 0) {
    const named = changedSince.slice(0, maxNamed).join(", ");
    const more = changedSince.length > maxNamed ? ` and ${changedSince.length - maxNamed} more` : "";
    throw new ServiceError("failed_precondition", `${named}${more} changed since, so nothing was taken back.`, {
      reason: "changed_since",
      hint: "Undo your own change to it first, or restore the file by git.",
    });
  }
  await workspace.apply(changes, { readOnlyToo: true });
  return { files: files.map(undoneRecord), skipped };
}

function undoneRecord({ path, beforeSha256, afterSha256 }: FileChangeRecord): FileChangeRecord {
  return {
    path,
    operation: beforeSha256 === undefined ? "delete" : afterSha256 === undefined ? "create" : "update",
    ...(afterSha256 === undefined ? {} : { beforeSha256: afterSha256 }),
    ...(beforeSha256 === undefined ? {} : { afterSha256: beforeSha256 }),
  };
}

/**
 * The files that can be undone, with their earlier contents (undefined: there was none). What was kept nowhere may only be where
 * it was moved to, so that stays too.
 */
async function earlierContents(
  files: readonly FileChangeRecord[],
  blobs: Pick<BlobStore, "get">,
): Promise<ReadonlyMap<FileChangeRecord, Uint8Array | undefined>> {
  const earlier = new Map<FileChangeRecord, Uint8Array | undefined>();
  const gone = new Set<string>();
  for (const file of files) {
    const bytes = file.beforeSha256 === undefined ? undefined : await blobs.get(file.beforeSha256);
    if (file.beforeSha256 !== undefined && bytes === undefined) gone.add(file.beforeSha256);
    else earlier.set(file, bytes);
  }
  for (const file of files) if (gone.has(file.afterSha256 ?? "")) earlier.delete(file);
  return earlier;
}

async function largeFile(session: Session, path: string): Promise<string | undefined> {
  const { state } = await presentFile(restoreRoot(session), path);
  return state.type === "file" ? state.sha256 : undefined;
}

/**
 * Reduces moves to the first and last value of each ref, or of each stash, or to those since somebody else moved it; a ref that is
 * where it was is dropped.
 */
function netMoves(moves: readonly RefMove[]): readonly RefMove[] {
  const net = new Map<string, RefMove>();
  for (const { name, to, ...move } of moves) {
    const key = name === "refs/stash" ? `${name} ${to ?? move.from}` : name;
    const earlier = net.get(key);
    const { from } = earlier !== undefined && earlier.to === move.from ? earlier : move;
    net.set(key, { name, from, to });
  }
  return [...net.values()].filter(({ from, to }) => from !== to);
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
