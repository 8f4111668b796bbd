import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { atExit } from "../at-exit.ts";
import { tryFileLock } from "./file-lock.ts";
import { clearHolder, holderGone, livingHolder, writeHolder } from "./lock-holder.ts";
import { type PlaceInLine, WaitingLine } from "./waiting-line.ts";

/** Milliseconds to wait for others that are taking a lock, which needs only some file operations. */
const maxWaitMs = 5_000;

export type LockAttempt =
  | { readonly type: "acquired"; readonly lock: Disposable }
  /** A living process holds it; `what` is that process's own description. */
  | { readonly type: "held"; readonly pid: number; readonly what: string };

/** Locks that hold between servers on many machines. */
export interface SharedLocks {
  /** Never waits for a holder. Rejects if the state cannot be determined. */
  tryAcquire(
    name: string,
    what: string,
  ): Promise<{ readonly type: "acquired"; readonly lock: Disposable } | { readonly type: "held"; readonly by: string }>;
  /** Resolves when the holder has given it back or is gone; at once if there is none. Rejects when the signal aborts. */
  released(name: string, signal: AbortSignal): Promise<void>;
}

/** The name of the lock that a turn holds while it works in a tree. @param root real path */
export function treeLockName(root: string): string {
  return `tree ${root}`;
}

/** Files of locks to remove when this process ends, by directory. */
const staying = new Map<string, Set<string>>();

function removeAtExit(directory: string, path: string): void {
  const paths = staying.get(directory) ?? new Set();
  if (paths.size === 0) {
    staying.set(directory, paths);
    atExit(() => removeFree(directory, paths));
  }
  paths.add(path);
}

/** Removes the files of locks that nobody holds, unless others take locks at this moment: then their processes remove them. */
function removeFree(directory: string, paths: Iterable<string>): void {
  try {
    using alone = tryFileLock(join(directory, "taking"));
    if (alone === undefined) return;
    for (const path of paths) if (livingHolder(path) === undefined) rmSync(path, { force: true });
  } catch {
    // The directory may be gone.
  }
}

/** Locks that hold between processes and end with the process that holds them, however it ends. */
export class ProcessLocks {
  readonly #directory: string;
  /** Locks for what other machines may use too; undefined if there are none. */
  readonly shared: SharedLocks | undefined;

  /** @param directory in the state directory; created if missing */
  constructor(directory: string, shared?: SharedLocks) {
    this.#directory = directory;
    this.shared = shared;
  }

  /**
   * Does not wait for a holder. A name can be held only once, also within this process.
   * @param options.stays for a name that is taken again and again: its small file stays until this process ends
   */
  tryAcquire(name: string, what: string, { stays = false }: { readonly stays?: boolean } = {}): LockAttempt {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const path = this.#path(name);
    // Otherwise two processes that find a dead holder would both take its place.
    using alone = tryFileLock(join(this.#directory, "taking"), { waitMs: maxWaitMs });
    if (alone === undefined) return { type: "held", pid: 0, what: "another process that takes locks" };
    const holder = livingHolder(path);
    if (holder !== undefined) return { type: "held", pid: holder.pid, what: holder.what };
    // Elsewhere a holder that a power cut left cannot be told from a process that has its number now.
    const options = { stays: stays && process.platform === "linux" };
    if (options.stays) removeAtExit(this.#directory, path);
    const token = writeHolder(path, what, options);
    return { type: "acquired", lock: { [Symbol.dispose]: () => clearHolder(path, token, options) } };
  }

  /** The present holder; undefined if no living process holds the lock. */
  holder(name: string): { readonly pid: number; readonly what: string } | undefined {
    const holder = livingHolder(this.#path(name));
    return holder === undefined ? undefined : { pid: holder.pid, what: holder.what };
  }

  /** The waiting line of a lock on this machine. It is advisory: a process that wants to wait asks the line first. */
  line(name: string): WaitingLine {
    return new WaitingLine(`${this.#path(name)}.line`);
  }

  /**
   * Resolves when whoever has this place in the lock's line should try again: nobody is right in front any more, or the lock was
   * given back, by whatever process. Rejects with the signal's reason when it aborts.
   */
  async freed(name: string, place: PlaceInLine, signal: AbortSignal): Promise<void> {
    if (place.first() !== undefined) await place.moved(signal);
    else if (this.holder(name) !== undefined) await holderGone(this.#path(name), signal);
    else await this.shared?.released(name, signal);
  }

  #path(name: string): string {
    return join(this.#directory, createHash("sha256").update(name).digest("hex").slice(0, 32));
  }
}
