import { z } from "zod";
import type { StoreDatabase } from "./database.ts";
import { integerOf, textOf } from "./row.ts";

const jobSchema = z.object({
  workspaceRoot: z.string(),
  /** Empty for the whole workspace. */
  sessionIds: z.array(z.string()).readonly(),
  /** SHA-256 of blobs that nothing refers to any more. */
  blobs: z.array(z.string()).readonly(),
  /**
   * Milliseconds since the epoch at which nothing referred to them; a blob stored again later is still needed. For a job from
   * before this field existed, the age of blobs is unknown, so that all stay until a purge finds them again.
   */
  scanned: z.number().default(0),
  /** True when no file has it any more; only pages freed by the database (see `compactPurged`) and `notesLeft` remain. */
  swept: z.exactOptional(z.boolean()),
  /** True when these pages are gone as well. */
  compacted: z.exactOptional(z.boolean()),
  /** True if git refused the change of its notes. */
  notesLeft: z.exactOptional(z.boolean()),
});

/** What remains to be deleted after the transaction of a purge: everything outside of the database's rows. */
export type PurgeJob = Readonly<z.infer<typeof jobSchema>>;

export interface PendingPurge {
  /** Row of the table. */
  readonly number: number;
  /** Row of the workspace. */
  readonly workspace: number;
  readonly job: PurgeJob;
}

/** Writes a job. Within the purge's own transaction, so that the job exists exactly when the rows are gone. */
export function addPurgeJob(database: StoreDatabase, workspace: number, job: PurgeJob): void {
  database.prepare("INSERT INTO purge_jobs (workspace, job) VALUES (?, ?)").run(workspace, JSON.stringify(job));
}

/** Notes that its blobs are deleted, so that a retry of the job does not delete them again. */
export function dropPurgedBlobs(database: StoreDatabase, { number, job }: PendingPurge): void {
  replaceJob(database, number, { ...job, blobs: [] });
}

/** Notes that all is done except the database's freed pages, and the notes if git refused. */
export function markSwept(database: StoreDatabase, { number, job }: PendingPurge, notesLeft: boolean): void {
  keepJob(database, number, { ...job, blobs: [], swept: true, notesLeft });
}

/** Notes that the database has no freed page of the job any more. */
export function markCompacted(database: StoreDatabase, { number, job }: PendingPurge): void {
  keepJob(database, number, { ...job, compacted: true });
}

/** Updates the job, or removes it if nothing remains to be done. */
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

/** True if files of this workspace still contain what was purged. */
export function isPurging(database: StoreDatabase, workspace: number): boolean {
  return pendingPurges(database).some((pending) => pending.workspace === workspace && pending.job.swept !== true);
}

/** Purges that are not complete, oldest first. */
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
