import { chmodSync, closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../system-error.ts";
import { StoreError, sqliteBusy, sqliteResultCode, storeErrorOf } from "./store-error.ts";

/**
 * Takes a lock between processes, held until disposed. It is the operating system's lock on an empty database file, so
 * it dies with its process and no stale lock is ever left. Rejects with `StoreError` `busy` after `timeout` milliseconds.
 */
export async function acquireFileLock(file: string, options: { readonly timeout: number }): Promise<Disposable> {
  createOnce(file);
  const connection = new DatabaseSync(file, { timeout: 0 });
  const deadline = performance.now() + options.timeout;
  for (;;) {
    try {
      connection.exec("BEGIN EXCLUSIVE");
      return { [Symbol.dispose]: () => connection.close() };
    } catch (error) {
      if (((sqliteResultCode(error) ?? 0) & 0xff) !== sqliteBusy) {
        connection.close();
        throw storeErrorOf(error, file);
      }
      if (performance.now() >= deadline) {
        connection.close();
        throw new StoreError("busy", `${file} is held by another process: try again when it is done.`, {
          cause: error,
        });
      }
    }
    await delay(5);
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
