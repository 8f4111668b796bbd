import { z } from "zod";
import type { StoreDatabase } from "./database.ts";
import { integerOf, textOf } from "./row.ts";

/** What is still to go after the transaction of a purge: everything that is no row of the database. */
export interface PurgeJob {
  readonly workspaceRoot: string;
  /** Empty: of the whole workspace. */
  readonly sessionIds: readonly string[];
  /** SHA-256 of blobs that nobody refers to any more. */
  readonly blobs: readonly string[];
  /** Milliseconds since the epoch when nobody did; whoever stores one of them later needs it. */
  readonly scanned: number;
  /** All is done but the pages that the database freed, see `compactPurged`. */
  readonly swept?: boolean;
}

const jobSchema = z.object({
  workspaceRoot: z.string(),
  sessionIds: z.array(z.string()),
  blobs: z.array(z.string()),
  // A job from before this was written down: nobody knows what is older, so that everything stays, until a purge finds it again.
  scanned: z.number().default(0),
  swept: z.exactOptional(z.boolean()),
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

/** All of it is done but the database's freed pages. */
export function markSwept(database: StoreDatabase, { number, job }: PendingPurge): void {
  replaceJob(database, number, { ...job, blobs: [], swept: true });
}

export function removePurgeJob(database: StoreDatabase, { number }: PendingPurge): void {
  database.prepare("DELETE FROM purge_jobs WHERE number = ?").run(number);
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
