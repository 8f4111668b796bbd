import { randomUUID } from "node:crypto";
import { type FSWatcher, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import * as z from "zod";
import { inBlock, overwriteBlock } from "../../file-in-place.ts";
import { isRunning } from "../is-running.ts";

const holderSchema = z.object({ pid: z.int().positive(), started: z.string(), token: z.string(), what: z.string() });

/** The process that holds a lock or waits for one, as written in a file. */
export type LockHolder = z.infer<typeof holderSchema>;

/**
 * Writes this process as the holder; readers see the complete file, or none.
 * @param options.stays the file is a block, which `clearHolder` leaves for the next holder
 * @returns its token
 */
export function writeHolder(path: string, what: string, { stays = false }: { readonly stays?: boolean } = {}): string {
  const mine: LockHolder = { pid: process.pid, started: startOf(process.pid), token: randomUUID(), what };
  const text = JSON.stringify(mine);
  if (stays && overwriteBlock(path, text)) return mine.token;
  const draft = `${path}.${mine.token}`;
  writeFileSync(draft, stays ? inBlock(text) : text, { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
  return mine.token;
}

/** Has the file name nobody, if this holder is still the one that it names. */
export function clearHolder(path: string, token: string, { stays = false }: { readonly stays?: boolean } = {}): void {
  if (readHolder(path)?.token !== token) return;
  if (!stays || !overwriteBlock(path, "")) rmSync(path, { force: true });
}

/** Milliseconds between looks whether another process still lives: one that is killed changes no file. */
const lookEveryMs = 1_000;

/**
 * Resolves when the file no longer names its present holder, or that process has ended; at once if there is none. Rejects with
 * the signal's reason when it aborts.
 */
export async function holderGone(path: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const holder = livingHolder(path);
  if (holder === undefined) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = (): void => {
    if (livingHolder(path)?.token !== holder.token) resolve();
  };
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const watcher = watched(path, look);
  const timer = watcher !== undefined && holder.pid === process.pid ? undefined : setInterval(look, lookEveryMs);
  // It may have gone before it was watched.
  look();
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    watcher?.close();
    clearInterval(timer);
  }
}

/** Undefined if the system cannot watch it, e.g. because the file is gone. */
function watched(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, onChange).on("error", () => undefined);
  } catch {
    return undefined;
  }
}

/** Undefined if there is no such file, or it cannot be read. */
function readHolder(path: string): LockHolder | undefined {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

/** The holder; undefined if its process has ended, or there is none. */
export function livingHolder(path: string): LockHolder | undefined {
  const holder = readHolder(path);
  return holder !== undefined && isAlive(holder) ? holder : undefined;
}

function isAlive(holder: LockHolder): boolean {
  if (!isRunning(holder.pid)) return false;
  const started = startOf(holder.pid);
  return started === "" || holder.started === "" || started === holder.started;
}

/** Start time of a process, which tells a reused pid apart; empty if the system does not give it. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
