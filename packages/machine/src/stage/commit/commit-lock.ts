import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tryFileLock } from "../../process/locks/file-lock.ts";

/** Milliseconds. */
const timeoutMs = 60_000;
const pause = 50;

/**
 * Of all processes on a state directory one at a time ends, takes back or forgets commits that are not its own: two that end
 * the same one would be in each other's way. Waits for others, and throws when that takes longer than a minute.
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
