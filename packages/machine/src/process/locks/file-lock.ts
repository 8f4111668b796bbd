import { chmodSync, closeSync, openSync } from "node:fs";
import { SqliteConnection } from "../../sqlite-connection.ts";
import { hasCode } from "../../system-error.ts";

/**
 * Takes a lock between processes, held until disposed. It is the operating system's lock on an empty database file, so it
 * dies with its process and no stale lock is ever left. Undefined when it is still held after `waitMs` milliseconds, for which
 * this process stands still.
 */
export function tryFileLock(file: string, { waitMs = 0 }: { readonly waitMs?: number } = {}): Disposable | undefined {
  createOnce(file);
  const connection = new SqliteConnection(file, { timeout: waitMs });
  try {
    connection.exec("BEGIN EXCLUSIVE");
    return connection;
  } catch (error) {
    connection[Symbol.dispose]();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Never opens a file that is there: closing it again would take away the lock that another connection of this process has. */
function createOnce(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  if (process.getuid !== undefined) chmodSync(file, 0o600);
}

/** SQLITE_BUSY, extended codes included. https://www.sqlite.org/rescode.html */
function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === 5
  );
}
