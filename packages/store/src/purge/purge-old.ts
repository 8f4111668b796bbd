import { databaseFile, StoreDatabase } from "../database/database.ts";
import { textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import { purgeMemory } from "./purge-memory.ts";
import { stateDirectoriesIn } from "./storage-use.ts";

/**
 * Purges every session whose last event is older than a time; those at work stay until another time. Rejects with `StoreError`, and with
 * the signal's reason.
 * @param order.before milliseconds since the epoch
 * @param order.by who wants it, for the tombstones
 * @returns how many sessions went
 */
export async function purgeOld(
  stateDir: string,
  order: { readonly before: number; readonly by: string; readonly toolVersion: string; readonly signal: AbortSignal },
): Promise<number> {
  const { before, by, toolVersion, signal } = order;
  let purged = 0;
  for (const directory of stateDirectoriesIn(stateDir)) {
    for (const session of sessionsBefore(directory, before)) {
      signal.throwIfAborted();
      try {
        await purgeMemory({ stateDir: directory, ...session, by, toolVersion });
        purged += 1;
      } catch (error) {
        if (!(error instanceof StoreError && error.code === "busy")) throw error;
      }
    }
  }
  return purged;
}

function sessionsBefore(
  stateDir: string,
  before: number,
): readonly { readonly sessionId: string; readonly workspaceRoot: string }[] {
  using database = StoreDatabase.openReadOnly(databaseFile(stateDir));
  const rows = database
    ?.prepare("SELECT id, root FROM sessions JOIN workspaces ON workspaces.number = workspace WHERE updated < ?")
    .all(before);
  return (rows ?? []).map((row) => ({ sessionId: textOf(row, "id"), workspaceRoot: textOf(row, "root") }));
}
