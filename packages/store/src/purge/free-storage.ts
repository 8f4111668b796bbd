import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { namesInOwn } from "@gennai/machine/entries/names-in";
import { fileText } from "@gennai/machine/git-data/file-text";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { keptLimits } from "@gennai/stage/commit/way-back";
import { layerDirectory, layerOwners, layerUsedAt, removeLayer } from "@gennai/stage/layer/layer-files";
import { forgetCheckpoints } from "../checkpoints/forget-checkpoints.ts";
import { checkpointDirectory } from "../checkpoints/workspace-checkpoints.ts";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { textOf } from "../database/row.ts";
import { bytesOf, measureStorage, noteStorageUse, type StorageUse, stateDirectoriesIn } from "./storage-use.ts";

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
  for (const directory of stateDirectoriesIn(stateDir)) await forgetUnusedSnapshots(directory, now);
  await removeBuilds(stateDir, ({ usedAt }) => now - usedAt > keptLimits.ageMs);
  let use = await measureStorage(stateDir, { now, signal });
  const isIdle = ({ usedAt }: Build): boolean => now - usedAt > (limits.idleMs ?? idleMs);
  for (const build of buildsIn(stateDir).filter(isIdle)) {
    if (bytesOf(use) <= mostBytes) break;
    await removeBuilds(stateDir, ({ session }) => session === build.session);
    use = await measureStorage(stateDir, { now, signal });
  }
  noteStorageUse(stateDir, use);
  return { before, after: use };
}

interface Build {
  readonly session: string;
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly usedAt: number;
}

/** The builds of sessions, those used longest ago first. */
function buildsIn(stateDir: string): readonly Build[] {
  return layerOwners(stateDir)
    .map(({ session, root }) => ({ session, root: root.path, usedAt: layerUsedAt(stateDir, session) }))
    .toSorted((one, other) => one.usedAt - other.usedAt);
}

async function removeBuilds(stateDir: string, isChosen: (build: Build) => boolean): Promise<void> {
  const chosen = buildsIn(stateDir).filter(isChosen);
  if (chosen.length === 0) return;
  const running = commandLines();
  for (const { session, root } of chosen) {
    if (running.includes(basename(layerDirectory(stateDir, session)))) continue;
    using held = holdSession(stateDir, session);
    if (held !== undefined) await removeLayer(stateDir, session, root);
  }
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

/** Command lines of this user's processes: those that keep mounts name the layers in them. Empty on systems without overlays. */
function commandLines(): string {
  return namesInOwn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => fileText(`/proc/${name}/cmdline`, maxCommandLine) ?? "")
    .join("\n");
}

const maxCommandLine = 2 * 1024 * 1024;

async function forgetUnusedSnapshots(stateDir: string, now: number): Promise<void> {
  for (const root of workspacesIn(stateDir)) {
    const directory = checkpointDirectory({ stateDir, root });
    const used = Math.max(changedAt(join(directory, "records")), changedAt(join(directory, "repository")));
    if (used > 0 && now - used > keptLimits.ageMs) await forgetCheckpoints({ stateDir, root }, []);
  }
}

function workspacesIn(stateDir: string): readonly string[] {
  using database = StoreDatabase.openReadOnly(databaseFile(stateDir));
  const rows = database?.prepare("SELECT root FROM workspaces").all() ?? [];
  return rows.map((row) => textOf(row, "root"));
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
