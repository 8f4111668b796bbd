import { giveWay } from "@gennai/machine/entries/give-way";
import { errorMessage } from "@gennai/protocol/error-message";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import type { SessionLog } from "../log/session-log.ts";

export interface OldOrder {
  /** Milliseconds since the epoch: sessions go whose last event is older. */
  readonly before: number;
  /** Who wants it, for the tombstones. */
  readonly by: string;
  readonly signal: AbortSignal;
}

export interface OldPurge {
  /** How many sessions went. */
  readonly purged: number;
  /** Why others stay until another time, a sentence each. */
  readonly refusals: readonly string[];
}

/**
 * Forgets every old session of a log in use, one by one beside other work; the database is compacted once for all. Rejects with the
 * signal's reason.
 * @param forget like the log's, of sessions that may be open
 */
export async function purgeOld(
  log: SessionLog,
  { before, by, signal }: OldOrder,
  forget: (sessionId: string) => Promise<unknown> = (sessionId) => log.forget(sessionId, by),
): Promise<OldPurge> {
  let purged = 0;
  const refusals: string[] = [];
  for (const { sessionId, updated } of await log.list({ limit: Number.MAX_SAFE_INTEGER })) {
    if (updated >= before) continue;
    await giveWay();
    signal.throwIfAborted();
    try {
      await forget(sessionId);
      purged += 1;
    } catch (error) {
      refusals.push(errorMessage(error));
    }
  }
  return { purged, refusals };
}

/** Whether a state directory that is not open has sessions older than a time, in milliseconds since the epoch. Throws `StoreError`. */
export function hasOld(stateDir: string, before: number): boolean {
  using database = StoreDatabase.openReadOnly(databaseFile(stateDir));
  return database?.prepare("SELECT 1 FROM sessions WHERE updated < ? LIMIT 1").get(before) !== undefined;
}
