import { z } from "zod";
import type { StoreDatabase } from "./database.ts";
import { integerOf, textOf } from "./row.ts";

/** What is still to go after the transaction of a purge: everything that is not a row of the database. */
export interface PurgeJob {
  readonly workspaceRoot: string;
  /** Empty: of the whole workspace. */
  readonly sessionIds: readonly string[];
  /** SHA-256 of blobs that nobody refers to any more. */
  readonly blobs: readonly string[];
  /** Milliseconds since the epoch when nobody did; the one who stores one of them later needs it. */
  readonly scanned: number;
  /** No file has it any more: what is left are pages that the database freed, see `compactPurged`, and `notesLeft`. */
  readonly swept?: boolean;
  /** These pages are gone, too. */
  readonly compacted?: boolean;
  /** git did not take the change of its notes. */
  readonly notesLeft?: boolean;
}

const jobSchema = z.object({
  workspaceRoot: z.string(),
  sessionIds: z.array(z.string()),
  blobs: z.array(z.string()),
  // A job from before this was written down: nobody knows what is older, so that everything stays, until a purge finds it again.
  scanned: z.number().default(0),
  swept: z.exactOptional(z.boolean()),
  compacted: z.exactOptional(z.boolean()),
  notesLeft: z.exactOptional(z.boolean()),
});

export interface PendingPurge {
  /** Row of the table. */
  readonly number: number;
  /** Row of the workspace. */
  readonly workspace: number;
  readonly job: PurgeJob;
}

/** Writes a job down. Inside the purge's own transaction: it is there exactly when the rows are gone. */
export function addPurgeJob(database: StoreDatabase, workspace: number, job: PurgeJob): void {
  database.prepare("INSERT INTO purge_jobs (workspace, job) VALUES (?, ?)").run(workspace, JSON.stringify(job));
}

/** Its blobs are done, and are not removed again when the rest of the job is tried once more. */
export function dropPurgedBlobs(database: StoreDatabase, { number, job }: PendingPurge): void {
  replaceJob(database, number, { ...job, blobs: [] });
}

/** All of it is done but the database's freed pages, and the notes where git refused. */
export function markSwept(database: StoreDatabase, { number, job }: PendingPurge, notesLeft: boolean): void {
  keepJob(database, number, { ...job, blobs: [], swept: true, notesLeft });
}

/** The database has no freed page of it any more. */
export function markCompacted(database: StoreDatabase, { number, job }: PendingPurge): void {
  keepJob(database, number, { ...job, compacted: true });
}

/** As long as something is left of it. */
function keepJob(database: StoreDatabase, number: number, job: PurgeJob): void {
  if (job.compacted !== true || job.notesLeft === true) replaceJob(database, number, job);
  else database.prepare("DELETE FROM purge_jobs WHERE number = ?").run(number);
}

function replaceJob(database: StoreDatabase, number: number, job: PurgeJob): void {
  database.prepare("UPDATE purge_jobs SET job = ? WHERE number = ?").run(JSON.stringify(job), number);
}

export function createPurgeJobs(database: StoreDatabase): void {
  database
    .prepare(
      "CREATE TABLE IF NOT EXISTS purge_jobs (number INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, job TEXT NOT NULL) STRICT",
    )
    .run();
}

/** Files of this workspace still hold what was purged. */
export function isPurging(database: StoreDatabase, workspace: number): boolean {
  return pendingPurges(database).some((pending) => pending.workspace === workspace && pending.job.swept !== true);
}

/** Purges of which something is still to do, the oldest first. */
export function pendingPurges(database: StoreDatabase): readonly PendingPurge[] {
  const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'purge_jobs'").get();
  if (table === undefined) return [];
  const rows = database.prepare("SELECT number, workspace, job FROM purge_jobs ORDER BY number").all();
  return rows.map((row) => ({
    number: integerOf(row, "number"),
    workspace: integerOf(row, "workspace"),
    job: jobSchema.parse(JSON.parse(textOf(row, "job"))),
  }));
}
