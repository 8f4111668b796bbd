import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { forgetFileSets } from "@gennai/machine/change-set/file-sets";
import { errorMessage } from "@gennai/protocol/error-message";
import { isWithin } from "@gennai/protocol/is-within";
import { removeStagedTrees } from "@gennai/shell/proposal/staged-tree";
import { removeOpenStages } from "@gennai/shell/stages/open-stages";
import { forgetWaysBack } from "@gennai/stage/commit/way-back";
import { layerOwners, removeLayer, removeLostLayers } from "@gennai/stage/layer/layer-files";
import { forgetCheckpoints } from "../checkpoints/forget-checkpoints.ts";
import type { StoreDatabase } from "../database/database.ts";
import {
  markCompacted,
  markSwept,
  type PendingPurge,
  type PurgeJob,
  pendingPurges,
} from "../database/purge-job-table.ts";
import { integerOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import { recoveredCopies } from "../ledger/file/ledger-mirror-file.ts";
import type { LedgerMirror } from "../ledger/ledger-mirror.ts";
import type { LedgerTable } from "../ledger/ledger-table.ts";
import { forgetPurgedNotes } from "./forget-notes.ts";
import { removeBlobs } from "./purged-blobs.ts";

/** Milliseconds that others may hold the database's log. */
const usualTimeoutMs = 10_000;

export interface PurgeParts {
  readonly database: StoreDatabase;
  readonly table: LedgerTable;
  readonly mirror: LedgerMirror;
  readonly stateDir: string;
}

/**
 * Completes purges, including one that a crash interrupted; may be repeated. Resolves when no byte of what was purged is in the
 * state directory, in the ledger's file or in git's notes. Rejects with `StoreError` `busy` if others use the database, or git
 * its notes. @returns how many notes changed
 */
export async function finishPurges(parts: PurgeParts): Promise<number> {
  const notes = await sweepPurges(parts);
  await compactPurged(parts.database);
  return notes;
}

/**
 * Like `finishPurges`, except for copies of a row in the database's freed or moved pages: `compactPurged` removes these, and
 * nobody can use the database meanwhile.
 */
export async function sweepPurges(parts: PurgeParts): Promise<number> {
  const { database, mirror, stateDir } = parts;
  const pending = pendingPurges(database).filter(isUnswept);
  if (pending.length === 0) return 0;
  for (const purge of pending) {
    const { job } = purge;
    if (job.swept === true) continue;
    await forgetCheckpoints({ stateDir, root: job.workspaceRoot }, job.sessionIds);
    await removeLayers(stateDir, job);
    await removeOpenStages(stateDir, ({ session, root }) => isOf(job, { session, root }));
    await forgetWaysBack(stateDir, ({ session = "", workspace }) => isOf(job, { session, root: workspace }));
    removeStagedTrees(stateDir, ({ session, root }) => isOf(job, { session, root }));
    await mirror.alone(job.workspaceRoot, async () => {
      if (existsSync(job.workspaceRoot)) await mirror.replace(job.workspaceRoot);
      removeCopies(stateDir, job);
      removeBlobs(database, stateDir, purge);
      if (job.sessionIds.length > 0) return;
      removeTemporaryFiles(stateDir, job.workspaceRoot);
      forgetFileSets(stateDir, job.workspaceRoot);
    });
  }
  // Last, so that a refusal delays nothing else: git's notes may be locked for long.
  const refusals = new Map<PendingPurge, unknown>();
  let notes = 0;
  for (const purge of pending) {
    const taken = forgetPurgedNotes(parts, { workspace: purge.workspace, workspaceRoot: purge.job.workspaceRoot });
    notes += await taken.catch((error: unknown) => {
      refusals.set(purge, error);
      return 0;
    });
  }
  eraseFreedPages(database);
  database.transaction({ durable: true }, () => {
    for (const each of pending) markSwept(database, each, refusals.has(each));
  });
  await truncateLog(database);
  for (const refusal of refusals.values()) throw refusal;
  return notes;
}

function isUnswept({ job }: PendingPurge): boolean {
  return job.swept !== true || job.notesLeft === true;
}

/** Whether purges wait for `sweepPurges`. */
export function awaitsSweep(database: StoreDatabase): boolean {
  return pendingPurges(database).some(isUnswept);
}

/** Whether purges wait for `compactPurged`. */
export function awaitsCompaction(database: StoreDatabase): boolean {
  return pendingPurges(database).some(isUncompacted);
}

/**
 * Writes the database anew, once for all purges that were swept: also pages go that earlier versions or other processes freed
 * without overwriting them. Nobody else can use the database meanwhile, about a second for each 100 MB.
 * @param timeoutMs milliseconds to wait for others who hold it
 */
export async function compactPurged(database: StoreDatabase, timeoutMs = usualTimeoutMs): Promise<void> {
  const swept = pendingPurges(database).filter(isUncompacted);
  if (swept.length === 0) return;
  const vacuum = (): boolean => {
    database.prepare("VACUUM").run();
    return true;
  };
  await whenFree(database, vacuum, timeoutMs);
  await truncateLog(database, timeoutMs);
  eraseFreedPages(database);
  database.transaction({ durable: true }, () => {
    for (const each of swept) markCompacted(database, each);
  });
  await truncateLog(database, timeoutMs);
}

function isUncompacted({ job }: PendingPurge): boolean {
  return job.swept === true && job.compacted !== true;
}

/** From now on, this connection overwrites what it deletes. */
export function eraseFreedPages(database: StoreDatabase): void {
  database.prepare("PRAGMA secure_delete = ON").all();
}

/** What commands of sessions made that git ignores. */
async function removeLayers(stateDir: string, job: PurgeJob): Promise<void> {
  for (const { session, root } of layerOwners(stateDir)) {
    if (isOf(job, { session, root: root.path })) await removeLayer(stateDir, session, root.path);
  }
  await removeLostLayers(stateDir, job.workspaceRoot);
}

/** Whether what a session has in the state directory is purged. @param of.root of the work tree, or of the workspace */
function isOf(
  { sessionIds, workspaceRoot }: PurgeJob,
  { session, root }: { readonly session: string; readonly root: string },
): boolean {
  if (sessionIds.length > 0) return sessionIds.includes(session);
  return isWithin(workspaceRoot, { directory: root });
}

/** Removes copies of the ledger's file from when it had been modified. */
function removeCopies(stateDir: string, job: PurgeJob): void {
  const { directory, prefix } = recoveredCopies(stateDir, job.workspaceRoot);
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    if (!name.startsWith(prefix)) continue;
    const text = job.sessionIds.length === 0 ? "" : readFileSync(join(directory, name), "utf8");
    if (text === "" || job.sessionIds.some((id) => text.includes(id))) rmSync(join(directory, name), { force: true });
  }
}

/** What commands left in the sandbox's `/tmp` of this workspace. */
function removeTemporaryFiles(stateDir: string, workspaceRoot: string): void {
  const sandboxes = join(stateDir, "sandbox");
  for (const owner of existsSync(sandboxes) ? readdirSync(sandboxes) : []) {
    const directory = join(sandboxes, owner, "tmp", workspaceIdOf(workspaceRoot).slice(0, 16));
    // The directory itself stays: a server that runs goes on using it.
    for (const name of existsSync(directory) ? readdirSync(directory) : []) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
  }
}

/** Copies the write-ahead log into the database and empties it: old pages live on in it otherwise. */
async function truncateLog(database: StoreDatabase, timeoutMs = usualTimeoutMs): Promise<void> {
  const truncate = (): boolean => {
    const row = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    return row !== undefined && integerOf(row, "busy") === 0;
  };
  await whenFree(database, truncate, timeoutMs);
}

async function whenFree(database: StoreDatabase, attempt: () => boolean, timeoutMs: number): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      if (attempt()) return;
    } catch (error) {
      if (!/busy|locked/i.test(errorMessage(error)) || performance.now() > end) throw error;
    }
    if (performance.now() > end) {
      throw new StoreError(
        "busy",
        `${database.file} is in use: stop the servers that run and purge again; what is left goes then.`,
      );
    }
    await delay(20);
  }
}
