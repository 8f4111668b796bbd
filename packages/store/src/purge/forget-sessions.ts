import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { tombstones } from "@gennai/governance/ledger/purged-records";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import type { StoreDatabase } from "../database/database.ts";
import { addPurgeJob } from "../database/purge-job-table.ts";
import { integerOf, textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import type { LedgerTable } from "../ledger/ledger-table.ts";
import type { ForgottenSession } from "../log/session-log.ts";
import type { PurgeParts } from "./purge-jobs.ts";
import { digestsIn } from "./purged-blobs.ts";

/** What was removed. All zero if there was nothing. */
export interface PurgeReport extends ForgottenSession {
  readonly sessions: number;
}

export interface StoredSession {
  readonly number: number;
  readonly id: string;
  /** Milliseconds since the epoch of its last event. */
  readonly updated: number;
}

/** What to remove, and the text of the tombstone. */
export interface ForgetOrder {
  /** Number of the workspace. */
  readonly workspace: number;
  /** Real absolute path, or where a client holds the files. */
  readonly workspaceRoot: string;
  readonly sessions: readonly StoredSession[];
  /** `session`: the one session in `sessions`. */
  readonly scope: "session" | "workspace";
  /** Name of the one who asked for it. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /**
   * Other sessions run meanwhile: what was stored after the last event of the forgotten ones stays, because it may belong to
   * others.
   */
  readonly besideOthers?: boolean;
  /** Where the tombstone must come out the same in every replica. */
  readonly sealing?: { readonly salt: string; readonly toolVersion: string };
}

/** Blobs nobody refers to are rubbish when they are older than this, in milliseconds; younger ones may be on their way in. */
const orphanAge = 10 * 60_000;

/** Removes the rows in one transaction and writes down the rest, for `finishPurges`. Rejects with `StoreError` `busy`. */
export async function forgetSessions(parts: PurgeParts, order: ForgetOrder): Promise<PurgeReport> {
  using _held = holdSessions(parts.stateDir, order.sessions);
  return await parts.mirror.alone(order.workspaceRoot, async () =>
    parts.database.transaction({ durable: true }, () => forgetRows(parts, order)),
  );
}

/** Call it within a transaction, and after `createPurgeJobs`. */
export function forgetRows(
  parts: { readonly database: StoreDatabase; readonly table: LedgerTable; readonly stateDir: string },
  order: ForgetOrder,
): PurgeReport {
  const { database, table, stateDir } = parts;
  const { workspace, workspaceRoot, sessions, scope, by, time, sealing } = order;
  const sessionIds = scope === "session" ? sessions.map(({ id }) => id) : [];
  const scanned = Date.now();
  const blobs = unneededBlobs(database, stateDir, order);
  const events = removeSessions(database, sessions);
  const records = table.purge(workspace, sessionIds[0]);
  const removed = { sessions: sessions.length, events, blobs: blobs.length };
  if (sessions.length === 0 && records.length === 0 && blobs.length === 0) return { ...removed, records: 0 };
  // How many files that were, is of each replica alone.
  const counted = sealing === undefined ? removed : { sessions: removed.sessions, events };
  const entries = tombstones({ scope, records, removed: counted, by, time });
  table.append(
    workspace,
    entries,
    sealing && { salts: entries.map((_, index) => saltOf(sealing.salt, index)), toolVersion: sealing.toolVersion },
  );
  addPurgeJob(database, workspace, { workspaceRoot, sessionIds, blobs, scanned });
  return { ...removed, records: records.length };
}

/** Of one workspace: one of them, or all. */
export function storedSessions(
  database: StoreDatabase,
  workspace: number,
  sessionId: string | undefined,
): readonly StoredSession[] {
  const rows = database.prepare("SELECT number, id, updated FROM sessions WHERE workspace = ?").all(workspace);
  const all = rows.map((row) => ({
    number: integerOf(row, "number"),
    id: textOf(row, "id"),
    updated: integerOf(row, "updated"),
  }));
  return sessionId === undefined ? all : all.filter(({ id }) => id === sessionId);
}

/** Keeps turns of these sessions from starting meanwhile. */
function holdSessions(stateDir: string, sessions: readonly StoredSession[]): Disposable {
  const locks = new ProcessLocks(join(stateDir, "locks"));
  using held = new DisposableStack();
  for (const { id } of sessions) {
    const attempt = locks.tryAcquire(`session ${id}`, "is being purged");
    if (attempt.type === "held") {
      throw new StoreError(
        "busy",
        `Session ${id} is at work (process ${attempt.pid} ${attempt.what}): cancel its turn, then purge again.`,
      );
    }
    held.use(attempt.lock);
  }
  return held.move();
}

function removeSessions(database: StoreDatabase, sessions: readonly StoredSession[]): number {
  const removeEvents = database.prepare("DELETE FROM events WHERE session = ?");
  const removeUser = database.prepare("DELETE FROM session_users WHERE session = ?");
  const removeSession = database.prepare("DELETE FROM sessions WHERE number = ?");
  let events = 0;
  for (const { number } of sessions) {
    events += Number(removeEvents.run(number).changes);
    removeUser.run(number);
    removeSession.run(number);
  }
  return events;
}

/** Blobs that only these sessions refer to, and old ones that nothing refers to. */
function unneededBlobs(
  database: StoreDatabase,
  stateDir: string,
  { sessions, besideOthers = false }: ForgetOrder,
): readonly string[] {
  const leaving = new Set(sessions.map(({ number }) => number));
  const needed = new Set<string>();
  const named = new Set<string>();
  for (const row of database.prepare("SELECT session, json FROM events").iterate()) {
    const digests = leaving.has(integerOf(row, "session")) ? named : needed;
    for (const digest of digestsIn(textOf(row, "json"))) digests.add(digest);
  }
  const young = Date.now() - orphanAge;
  // Stored once more by another session, which is about to say so: an orphan at worst, and gone with the next purge.
  const theirs = besideOthers ? Math.max(0, ...sessions.map(({ updated }) => updated)) : Number.POSITIVE_INFINITY;
  const directory = join(stateDir, "blobs");
  const found = existsSync(directory) ? readdirSync(directory, { recursive: true, withFileTypes: true }) : [];
  return found
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name) && !needed.has(entry.name))
    .filter((entry) => {
      const { mtimeMs } = statSync(join(entry.parentPath, entry.name));
      return mtimeMs < young || (named.has(entry.name) && Math.floor(mtimeMs) <= theirs);
    })
    .map((entry) => entry.name);
}

/** 32 hex digits. */
function saltOf(salt: string, index: number): string {
  return createHash("sha256").update(`${salt} ${index}`).digest("hex").slice(0, 32);
}
