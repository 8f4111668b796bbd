import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StoreDatabase } from "../database/database.ts";
import { dropPurgedBlobs, type PendingPurge } from "../database/purge-job-table.ts";
import { textOf } from "../database/row.ts";

/**
 * Removes blobs that a purge found unneeded, except those stored or referenced since: sessions continue between the purge and
 * this, and between two attempts. In one transaction, so that no process adds a reference between check and removal.
 */
export function removeBlobs(database: StoreDatabase, stateDir: string, pending: PendingPurge): void {
  const { blobs, scanned } = pending.job;
  if (blobs.length === 0) return;
  database.transaction({ durable: true }, () => {
    const files = new Map(blobs.map((blob) => [blob, join(stateDir, "blobs", blob.slice(0, 2), blob)]));
    const wasStored = (file: string) => Math.floor(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= scanned;
    for (const [blob, file] of files) if (wasStored(file)) files.delete(blob);
    forgetNamed(database, files);
    // Other processes store without the database: looked at once more, last thing.
    for (const file of files.values()) if (!wasStored(file)) rmSync(file, { force: true });
    dropPurgedBlobs(database, pending);
  });
}

/** What may be the digest of a blob: every run of 64 hex digits. */
export function digestsIn(json: string): readonly string[] {
  return json.match(/\b[0-9a-f]{64}\b/g) ?? [];
}

/** Takes out what an event names. */
function forgetNamed(database: StoreDatabase, files: Map<string, string>): void {
  if (files.size === 0) return;
  for (const row of database.prepare("SELECT json FROM events").iterate()) {
    for (const digest of digestsIn(textOf(row, "json"))) files.delete(digest);
    if (files.size === 0) return;
  }
}
