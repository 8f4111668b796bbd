import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 100;

/**
 * Runs `work` while no other process runs its own under the same path. A lock whose holder is gone counts for nothing.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true });
  while (!tryTake(path)) await sleep(POLL_MS);
  const release = () => rmSync(path, { force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

/** @param {string} path */
function tryTake(path) {
  // Linked, not written, into place: the one who sees the lock can read who holds it.
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
  } finally {
    rmSync(own, { force: true });
  }
  if (!isHeld(path)) rmSync(path, { force: true });
  return false;
}

/** @param {string} path */
function isHeld(path) {
  try {
    process.kill(Number(readFileSync(path, "utf8")), 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
