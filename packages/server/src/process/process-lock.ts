import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { systemErrorCode } from "../system-error.ts";
import { tryFileLock } from "./file-lock.ts";

const holderSchema = z.object({ pid: z.int().positive(), started: z.string(), token: z.string(), what: z.string() });
type Holder = z.infer<typeof holderSchema>;

/** Milliseconds for others to take theirs, which is some operations on files. */
const maxWaitMs = 5_000;

export type LockAttempt =
  | { readonly type: "acquired"; readonly lock: Disposable }
  /** A process that is alive has it; `what` is what it said it does. */
  | { readonly type: "held"; readonly pid: number; readonly what: string };

/** Locks that hold between servers on many machines. */
export interface SharedLocks {
  /** Never waits for a holder. Rejects when it cannot be found out. */
  tryAcquire(
    name: string,
    what: string,
  ): Promise<{ readonly type: "acquired"; readonly lock: Disposable } | { readonly type: "held"; readonly by: string }>;
}

/** Locks that hold between processes and end with the process that holds them, however it ends. */
export class ProcessLocks {
  readonly #directory: string;
  /** For what other machines may reach as well; undefined when there are none. */
  readonly shared: SharedLocks | undefined;

  /** @param directory in the state directory; made when it is missing */
  constructor(directory: string, shared?: SharedLocks) {
    this.#directory = directory;
    this.shared = shared;
  }

  /** Waits for no holder. The same name can be held once, also within this process. */
  tryAcquire(name: string, what: string): LockAttempt {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const path = this.#path(name);
    // Two that find a dead holder would otherwise both take its place.
    using alone = tryFileLock(join(this.#directory, "taking"), { waitMs: maxWaitMs });
    if (alone === undefined) return { type: "held", pid: 0, what: "another process that takes locks" };
    const holder = read(path);
    if (holder !== undefined && isAlive(holder)) return { type: "held", pid: holder.pid, what: holder.what };
    const mine: Holder = { pid: process.pid, started: startOf(process.pid), token: randomUUID(), what };
    const draft = `${path}.${mine.token}`;
    writeFileSync(draft, JSON.stringify(mine), { mode: 0o600, flag: "wx" });
    // Whoever only looks sees the whole file, or none.
    renameSync(draft, path);
    return { type: "acquired", lock: { [Symbol.dispose]: () => this.#release(path, mine.token) } };
  }

  /** Who holds it now; undefined when nobody alive does. */
  holder(name: string): { readonly pid: number; readonly what: string } | undefined {
    const holder = read(this.#path(name));
    return holder !== undefined && isAlive(holder) ? { pid: holder.pid, what: holder.what } : undefined;
  }

  #path(name: string): string {
    return join(this.#directory, createHash("sha256").update(name).digest("hex").slice(0, 32));
  }

  #release(path: string, token: string): void {
    if (read(path)?.token === token) rmSync(path, { force: true });
  }
}

function read(path: string): Holder | undefined {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (systemErrorCode(error) === "ESRCH") return false;
  }
  const started = startOf(holder.pid);
  return started === "" || holder.started === "" || started === holder.started;
}

/** When a process began, in a form that tells a reused pid apart; empty where the system does not say. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
