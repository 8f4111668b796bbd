import { chmodSync, closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { StoreError, sqliteBusy, sqliteResultCode, storeErrorOf } from "./store-error.ts";

/**
 * Takes a lock between processes, held until disposed. It is the operating system's lock on an empty database file, so
 * it dies with its process and no stale lock is ever left. Rejects with `StoreError` `busy` after `timeout` milliseconds.
 */
export async function acquireFileLock(file: string, options: { readonly timeout: number }): Promise<Disposable> {
  closeSync(openSync(file, "a", 0o600));
  if (process.getuid !== undefined) chmodSync(file, 0o600);
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
