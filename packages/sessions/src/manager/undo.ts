import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import { nameOfMove, takeRefsBack } from "@gennai/git/take-refs-back";
import type { RefMove } from "@gennai/governance/tool";
import { ServiceError } from "@gennai/machine/service-error";
import type { DiskChange } from "@gennai/machine/workspace/inspect-change";
import type { FileContent, Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import { FileContents } from "../restore/file-contents.ts";
import { diskPlace, filesIn, type PresentFiles, restoreRoot } from "../restore/present-files.ts";
import { changeFromRecord, planRestore, type RestorePlan } from "../restore/restore-plan.ts";
import { type RestorePlace, writeRestore } from "../restore/write-restore.ts";
import { refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { ChangeSet, SessionState } from "../session/state/session-state.ts";
import { holdTree } from "../session/working-tree-claim.ts";

/** Maximum size of a file whose content is held to undo a change of it; larger ones are only compared and removed. Bytes. */
const maxBytes = 64 * 1024 * 1024;
/** Maximum files named in a refusal. */
const maxNamed = 5;

/**
 * Undoes a change set, by default the newest: all of its files or none, except those whose earlier content is kept nowhere. A
 * user's later changes are never overwritten: those of other lines stay, those of the same lines refuse the undo, or, for the `rest`,
 * keep the file as it is. A dry run says only what would stay. Throws `ServiceError`.
 */
export async function undoChangeSet(
  session: Session,
  changeSetId?: string,
  { dryRun = false, rest = false }: { readonly dryRun?: boolean; readonly rest?: boolean } = {},
): Promise<UndoneFiles & { readonly changeSetId: string; readonly refs: readonly string[] }> {
  const { workspace } = session;
  session.refuseWhileRunning("undo");
  using _tree = await holdTree(session, "Nothing was undone");
  // Another process may have newer changes, or run a turn.
  await session.catchUp();
  refuseInEmergency(session, "Nothing was undone", { name: "UndoChangeSet", statement: "Undo a change set" });
  const changeSet = changeSetToUndo(session.state, changeSetId);
  const undoing = await planUndo(changeSet, session, { rest, dryRun });
  const { skipped } = undoing.plan;
  if (dryRun) return { changeSetId: changeSet.changeSetId, files: [], skipped, refs: [] };
  const files = await undoing.write();
  const moves = netMoves(changeSet.refs);
  const all = [...new Set(moves.map(nameOfMove))];
  // With files that stay, the commit that holds them stays too. If git cannot run, the files are back nevertheless.
  const stay = skipped.length > 0 ? all : await takeRefsBack(workspace.controlRoot, moves).catch(() => all);
  const refs = moves.filter((move) => !stay.includes(nameOfMove(move)));
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
  return { ...undone, skipped: [...skipped, ...left], refs: all.filter((name) => !stay.includes(name)) };
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
  if (changeSet === undefined) throw new ServiceError("not_found", "There is nothing to undo.");
  if (changeSet.undone) throw new ServiceError("failed_precondition", "This change set was undone already.");
  return changeSet;
}

interface Undoing {
  readonly plan: RestorePlan;
  write(): Promise<readonly FileChangeRecord[]>;
}

/**
 * Throws `ServiceError` if somebody changed the same since, unless it is about the rest and there is one, or a dry run, and if no
 * earlier content is stored.
 */
async function planUndo(
  { files: all, directories }: ChangeSet,
  session: Session,
  { rest, dryRun }: { readonly rest: boolean; readonly dryRun: boolean },
): Promise<Undoing> {
  const { services, workspace } = session;
  const net = netChanges(all);
  const { files, place } = workspace.client === undefined ? onDisk(session) : atClient(workspace);
  const snapshots = services.checkpointsOf(workspace);
  const contents = new FileContents(session.seen, snapshots, services.stages?.replaced);
  const plan = await planRestore(net.map(changeFromRecord), contents, { files, paths: [], force: false });
  const changed = plan.skipped.filter(({ reason }) => reason !== "not_kept").map(({ path }) => path);
  if (!dryRun && changed.length > 0 && (!rest || plan.skipped.length === net.length)) {
    const named = changed.slice(0, maxNamed).join(", ");
    const more = changed.length > maxNamed ? ` and ${changed.length - maxNamed} more` : "";
    throw new ServiceError("failed_precondition", `${named}${more} changed since, so nothing was undone.`, {
      reason: "changed_since",
      hint: "Undo your own change of the same lines first, or restore the file by git.",
    });
  }
  const [lost] = plan.skipped;
  if (lost !== undefined && changed.length === 0 && plan.skipped.length === net.length) {
    throw new ServiceError("failed_precondition", `The earlier content of ${lost.path} is not stored.`, {
      reason: "content_gone",
      hint: "Restore the file by git.",
    });
  }
  const made = new Map(net.map(({ path, madeDirectories = [] }) => [path, madeDirectories]));
  const left = new Set(plan.skipped.map(({ path }) => path));
  return {
    plan,
    write: async () => {
      const announce = async (): Promise<void> => {};
      const written = await writeRestore(plan.restores, contents, {
        ...place,
        emptied: (path) => made.get(path) ?? [],
        announce,
        directories,
      });
      const merged = new Set(plan.restores.filter((each) => each.merged !== undefined).map(({ path }) => path));
      // Also those that a server which stopped had taken back already, but not recorded.
      const undone = net.filter(({ path }) => !left.has(path) && !merged.has(path)).map(undoneRecord);
      return [...undone, ...written.filter(({ path }) => merged.has(path))];
    },
  };
}

interface Place {
  readonly files: PresentFiles;
  readonly place: RestorePlace;
}

function onDisk(session: Session): Place {
  const root = restoreRoot(session);
  return { files: filesIn(root), place: diskPlace(session, root) };
}

/** A client takes neither links nor modes, and no file of this machine; no change set has any there. */
function atClient(workspace: Workspace): Place {
  const read = async (path: string): Promise<FileContent | undefined> => {
    const resolved = await workspace.resolve(path, { isRecorded: true });
    const stat = await workspace.stat(resolved);
    return stat?.kind === "file" ? workspace.read(resolved, { maxBytes }) : undefined;
  };
  return {
    files: {
      at: async (path) => {
        const now = await read(path);
        return now === undefined ? { type: "absent" } : { type: "file", sha256: now.sha256 };
      },
      bytes: async (path) => (await read(path))?.bytes,
    },
    place: {
      root: workspace.root,
      apply: (changes) => workspace.apply(changes.filter(isPlain), { readOnlyToo: true }),
    },
  };
}

function isPlain(change: DiskChange): change is WorkspaceChange {
  if (change.operation === "copy" || change.operation === "mode") throw new RangeError("A client takes only bytes.");
  return true;
}

function undoneRecord(file: FileChangeRecord): FileChangeRecord {
  const { path, beforeSha256, afterSha256, beforeMode, afterMode, beforeLink, afterLink } = file;
  return {
    path,
    operation: beforeSha256 === undefined ? "delete" : afterSha256 === undefined ? "create" : "update",
    beforeSha256: afterSha256,
    afterSha256: beforeSha256,
    beforeMode: afterMode,
    afterMode: beforeSha256 === undefined ? undefined : beforeMode,
    beforeLink: afterLink,
    afterLink: beforeLink,
  };
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
    const { path, operation, afterSha256, afterLink } = file;
    const known = net.get(path);
    const { beforeSha256, beforeLink, madeDirectories } = known ?? file;
    // An edit that leaves the mode does not record it.
    const beforeMode = known === undefined ? file.beforeMode : (known.beforeMode ?? file.beforeMode);
    const afterMode = file.afterMode ?? (afterSha256 === undefined ? undefined : known?.afterMode);
    const before = { beforeSha256, beforeMode, beforeLink, madeDirectories };
    net.set(path, { path, operation, ...before, afterSha256, afterMode, afterLink });
  }
  return [...net.values()].filter(
    ({ beforeSha256, afterSha256, beforeLink, afterLink, beforeMode, afterMode }) =>
      beforeSha256 !== afterSha256 || beforeLink !== afterLink || (afterMode !== undefined && beforeMode !== afterMode),
  );
}
