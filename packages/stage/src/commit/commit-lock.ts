import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tryFileLock } from "@gennai/machine/process/locks/file-lock";

/** Milliseconds. */
const timeoutMs = 60_000;
const pause = 50;

/**
 * Lets one process at a time end, take back or forget commits that other processes left in a state directory: two that end the
 * same commit would disturb each other. Waits for other processes, and throws after a minute.
 *
 * @param stateDir private, real path
 */
export async function aloneWithCommits<Value>(stateDir: string, work: () => Promise<Value>): Promise<Value> {
  const directory = join(stateDir, "locks");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const giveUp = performance.now() + timeoutMs;
  for (;;) {
    using lock = tryFileLock(join(directory, "commits"));
    if (lock !== undefined) return await work();
    if (performance.now() > giveUp) {
      throw new Error(
        `Another process is cleaning up what commands left in ${stateDir}, and does not finish: end that process and try again.`,
      );
    }
    await sleep(pause);
  }
}
