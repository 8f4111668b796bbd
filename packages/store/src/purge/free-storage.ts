import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { namesInOwn } from "@gennai/machine/entries/names-in";
import { fileText } from "@gennai/machine/git-data/file-text";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { keptLimits } from "@gennai/stage/commit/way-back";
import {
  type LayerOwner,
  layerDirectory,
  layerOwners,
  layerUsedAt,
  removeLayer,
  removeLostLayers,
} from "@gennai/stage/layer/layer-files";
import { forgetCheckpoints } from "../checkpoints/forget-checkpoints.ts";
import { checkpointDirectory } from "../checkpoints/workspace-checkpoints.ts";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { textOf } from "../database/row.ts";
import {
  bytesAt,
  bytesOf,
  measureStorage,
  noteStorageUse,
  type StorageUse,
  stateDirectoriesIn,
} from "./storage-use.ts";

/** Milliseconds for which nothing of a session ran, until its builds may go for want of room. */
const idleMs = 24 * 60 * 60_000;

export interface StorageLimits {
  readonly mostBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds for which the builds that go first were not used; a day by default. */
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Removes what can be made again: builds and dependencies of sessions, all that were not used for 14 days, and while more than
 * `mostBytes` are taken, the ones used longest ago; and the snapshots of workspaces in which nothing ran for 14 days, which no
 * undo uses any more. Never what a command still sees, or of a session at work; never a session, its ledger or a content of it.
 *
 * Rejects with the signal's reason.
 * @returns the use before and after; undefined while another process does the same
 */
export async function freeStorage(
  stateDir: string,
  limits: StorageLimits,
): Promise<{ readonly before: StorageUse; readonly after: StorageUse } | undefined> {
  const attempt = new ProcessLocks(join(stateDir, "locks")).tryAcquire("storage", "frees storage");
  if (attempt.type === "held") return undefined;
  using _lock = attempt.lock;
  const { now, mostBytes, signal } = limits;
  const before = await measureStorage(stateDir, { now, signal });
  let left = bytesOf(before);
  for (const directory of stateDirectoriesIn(stateDir)) {
    for (const root of workspacesIn(directory)) {
      signal?.throwIfAborted();
      left -= await forgetUnusedSnapshots({ stateDir: directory, root }, now);
      // Of removals that a kill cut off.
      await removeLostLayers(stateDir, root);
    }
  }
  const isDue = (usedAt: number): boolean => {
    const unused = now - usedAt;
    return unused > keptLimits.ageMs || (left > mostBytes && unused > (limits.idleMs ?? idleMs));
  };
  for (const build of buildsIn(stateDir)) {
    signal?.throwIfAborted();
    if (isDue(build.usedAt)) left -= await removeBuild(stateDir, build, isDue);
  }
  const after = await measureStorage(stateDir, { now, signal });
  noteStorageUse(stateDir, after);
  return { before, after };
}

interface Build extends LayerOwner {
  /** Milliseconds since the epoch. */
  readonly usedAt: number;
}

/** The builds of sessions, those used longest ago first. */
function buildsIn(stateDir: string): readonly Build[] {
  return layerOwners(stateDir)
    .map((owner) => ({ ...owner, usedAt: layerUsedAt(stateDir, owner.session) }))
    .toSorted((one, other) => one.usedAt - other.usedAt);
}

/** @returns bytes that were freed; 0 if the session is at work, or a command still sees its builds */
async function removeBuild(
  stateDir: string,
  { session, root, place }: Build,
  isDue: (usedAt: number) => boolean,
): Promise<number> {
  using held = holdSession(stateDir, session);
  // Looked at once more: until now a turn may have run, and left something that runs in the background.
  if (held === undefined || !isDue(layerUsedAt(stateDir, session)) || isSeen(stateDir, session)) return 0;
  const bytes = await bytesAt(place);
  await removeLayer(stateDir, session, root.path);
  return bytes;
}

/** Keeps turns of the session from starting; undefined if one runs. */
function holdSession(stateDir: string, session: string): Disposable | undefined {
  using held = new DisposableStack();
  for (const directory of stateDirectoriesIn(stateDir)) {
    const attempt = new ProcessLocks(join(directory, "locks")).tryAcquire(`session ${session}`, "frees storage");
    if (attempt.type === "held") return undefined;
    held.use(attempt.lock);
  }
  return held.move();
}

/** Whether a process keeps mounts of the builds: their path is in its command line. Never on systems without overlays. */
function isSeen(stateDir: string, session: string): boolean {
  const name = basename(layerDirectory(stateDir, session));
  return namesInOwn("/proc")
    .filter((process) => /^\d+$/.test(process))
    .some((process) => fileText(`/proc/${process}/cmdline`, maxCommandLine)?.includes(name) === true);
}

const maxCommandLine = 2 * 1024 * 1024;

/** @returns bytes that were freed */
async function forgetUnusedSnapshots(
  place: { readonly stateDir: string; readonly root: string },
  now: number,
): Promise<number> {
  const directory = checkpointDirectory(place);
  const used = Math.max(changedAt(join(directory, "records")), changedAt(join(directory, "repository")));
  if (used === 0 || now - used <= keptLimits.ageMs) return 0;
  const bytes = await bytesAt(directory);
  await forgetCheckpoints(place, []);
  return bytes;
}

function workspacesIn(stateDir: string): readonly string[] {
  using database = StoreDatabase.openReadOnly(databaseFile(stateDir));
  const rows = database?.prepare("SELECT root FROM workspaces").all() ?? [];
  return rows.map((row) => textOf(row, "root"));
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
