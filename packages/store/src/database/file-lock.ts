import { setTimeout as delay } from "node:timers/promises";
import { tryFileLock } from "@gennai/machine/process/locks/file-lock";
import { StoreError, storeErrorOf } from "./store-error.ts";

/** Waits for a lock between processes, held until disposed. Rejects with `StoreError`: `busy` after `timeout` milliseconds. */
export async function acquireFileLock(file: string, options: { readonly timeout: number }): Promise<Disposable> {
  const deadline = performance.now() + options.timeout;
  for (;;) {
    const lock = attempt(file);
    if (lock !== undefined) return lock;
    if (performance.now() >= deadline) {
      throw new StoreError("busy", `${file} is held by another process: try again when it is done.`);
    }
    await delay(5);
  }
}

function attempt(file: string): Disposable | undefined {
  try {
    return tryFileLock(file);
  } catch (error) {
    throw storeErrorOf(error, file);
  }
}
