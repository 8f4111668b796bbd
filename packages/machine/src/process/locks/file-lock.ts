import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { SqliteConnection } from "../../sqlite-connection.ts";
import { hasCode } from "../../system-error.ts";

/** A connection without a lock, and the file that it has open. */
interface Idle {
  readonly connection: SqliteConnection;
  readonly identity: string;
}

/** By path, the last used at the end. Opening a connection takes ten times as long as locking with it. */
const idle = new Map<string, Idle>();
const mostIdle = 16;
const mostReplaced = 100;

/**
 * Takes a lock between processes, held until disposed. It is the operating system's lock on an empty database file, so it is
 * released when its process dies and never becomes stale. Undefined if it is still held after `waitMs` milliseconds, during
 * which this process blocks.
 */
export function tryFileLock(file: string, { waitMs = 0 }: { readonly waitMs?: number } = {}): Disposable | undefined {
  for (let attempt = 0; attempt < mostReplaced; attempt += 1) {
    const lock = tryOnce(file, waitMs);
    if (lock !== "replaced") return lock;
  }
  throw new Error(
    `${file} is replaced again and again, so it cannot be locked. Put the state directory on a local file system.`,
  );
}

/** `replaced`: the locked file is no longer the one at the path, which others lock. */
function tryOnce(file: string, waitMs: number): Disposable | undefined | "replaced" {
  const opened = takeIdle(file) ?? open(file);
  const { connection } = opened;
  try {
    // Nothing is ever written, so that no journal beside the file is needed.
    connection.exec(`PRAGMA busy_timeout = ${waitMs}; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE`);
  } catch (error) {
    if (!isBusy(error)) {
      connection[Symbol.dispose]();
      throw error;
    }
    keepIdle(file, opened);
    return undefined;
  }
  if (opened.identity === "" || opened.identity !== identityOf(file)) {
    connection[Symbol.dispose]();
    return "replaced";
  }
  let isHeld = true;
  return {
    [Symbol.dispose]: () => {
      if (!isHeld) return;
      isHeld = false;
      try {
        connection.exec("ROLLBACK");
      } catch {
        // Closing also releases the lock.
        connection[Symbol.dispose]();
        return;
      }
      keepIdle(file, opened);
    },
  };
}

/** Undefined if no connection is kept, or the file was replaced. */
function takeIdle(file: string): Idle | undefined {
  const kept = idle.get(file);
  if (kept === undefined) return undefined;
  idle.delete(file);
  if (kept.identity === identityOf(file)) return kept;
  kept.connection[Symbol.dispose]();
  return undefined;
}

function keepIdle(file: string, opened: Idle): void {
  if (idle.has(file)) opened.connection[Symbol.dispose]();
  else idle.set(file, opened);
  const [oldest] = idle;
  if (idle.size <= mostIdle || oldest === undefined) return;
  idle.delete(oldest[0]);
  oldest[1].connection[Symbol.dispose]();
}

function open(file: string): Idle {
  createOnce(file);
  const before = identityOf(file);
  const connection = new SqliteConnection(file, { timeout: 0 });
  return { connection, identity: before === identityOf(file) ? before : "" };
}

/** Empty if the file does not exist. */
function identityOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.dev} ${stat.ino}`;
}

/** Never opens an existing file: closing it would release the lock that another connection of this process holds. */
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
