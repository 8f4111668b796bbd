import { existsSync, readdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { tombstones } from "@gennai/governance/ledger/purged-records";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ProcessLocks } from "@gennai/machine/process/process-lock";
import { recoverWorkspaceJournals } from "@gennai/machine/workspace/change/recover-journals";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { refuseLogCopy } from "../database/log-copy-guard.ts";
import { addPurgeJob, createPurgeJobs } from "../database/purge-job-table.ts";
import { integerOf, textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import { openLedgers } from "../ledger/open-ledgers.ts";
import { eraseFreedPages, finishPurges } from "./purge-jobs.ts";

export interface PurgeRequest {
  readonly stateDir: string;
  /** Real absolute path. */
  readonly workspaceRoot: string;
  /** Absent: all sessions of the workspace. */
  readonly sessionId?: string;
  readonly toolVersion?: string;
  /** Name of the account that asked for it, for the tombstone; the process's own by default. */
  readonly by?: string;
}

/** What is gone. All zero: there was nothing. */
export interface PurgeReport {
  readonly sessions: number;
  readonly events: number;
  /** Ledger records that lost their content and kept their place in the chain. */
  readonly records: number;
  readonly blobs: number;
}

/** Blobs nobody refers to are rubbish when they are older than this, in milliseconds; younger ones may be on their way in. */
const orphanAge = 10 * 60_000;

/**
 * Forgets one session, or all of a workspace: its log, title, blobs that nobody else needs, the content of its ledger records,
 * copies and temporary files. The chain of the ledger still holds, and a tombstone tells what was purged, when and by whom.
 * Rows go in one transaction; what a crash leaves undone is done when the store is opened next, or by a purge again.
 * Rejects with `StoreError`: `unknown_session`, `busy` while one of the sessions runs a turn.
 */
export async function purgeMemory(request: PurgeRequest): Promise<PurgeReport> {
  const stateDir = await prepareStateDirectory(request.stateDir);
  if (!existsSync(databaseFile(stateDir))) return nothing;
  recoverWorkspaceJournals(stateDir);
  using database = await StoreDatabase.open(databaseFile(stateDir));
  refuseLogCopy(database);
  eraseFreedPages(database);
  createPurgeJobs(database);
  const { toolVersion, workspaceRoot, sessionId } = request;
  await using ledgers = await openLedgers(database, {
    stateDir,
    ...(toolVersion === undefined ? {} : { toolVersion }),
    onWarning: () => {},
  });
  const { table, mirror, watch } = ledgers;
  watch.assertForward();
  const parts = { database, table, mirror, stateDir };
  await finishPurges(parts);
  const workspace = table.find(workspaceRoot);
  const sessions = workspace === undefined ? [] : sessionsOf(database, workspace, sessionId);
  if (sessionId !== undefined && sessions.length === 0) {
    throw new StoreError(
      "unknown_session",
      `There is no session ${sessionId} of ${workspaceRoot}: list the sessions to find the one you mean.`,
    );
  }
  if (workspace === undefined) return nothing;
  using _held = holdSessions(stateDir, sessions);
  const report = await mirror.alone(workspaceRoot, async () =>
    database.transaction({ durable: true }, () => {
      const blobs = unneededBlobs(database, stateDir, sessions);
      const events = removeSessions(database, sessions);
      const records = table.purge(workspace, sessionId);
      const removed = { sessions: sessions.length, events, blobs: blobs.length };
      if (sessions.length === 0 && records.length === 0 && blobs.length === 0) return { ...removed, records: 0 };
      const scope = sessionId === undefined ? "workspace" : "session";
      const by = request.by ?? userInfo().username;
      table.append(workspace, tombstones({ scope, records, removed, by, time: Date.now() }));
      addPurgeJob(database, workspace, {
        workspaceRoot,
        sessionIds: sessionId === undefined ? [] : [sessionId],
        blobs,
      });
      return { ...removed, records: records.length };
    }),
  );
  await finishPurges(parts);
  return report;
}

const nothing: PurgeReport = { sessions: 0, events: 0, records: 0, blobs: 0 };

interface StoredSession {
  readonly number: number;
  readonly id: string;
}

function sessionsOf(
  database: StoreDatabase,
  workspace: number,
  sessionId: string | undefined,
): readonly StoredSession[] {
  const rows = database.prepare("SELECT number, id FROM sessions WHERE workspace = ?").all(workspace);
  const all = rows.map((row) => ({ number: integerOf(row, "number"), id: textOf(row, "id") }));
  return sessionId === undefined ? all : all.filter(({ id }) => id === sessionId);
}

/** Nobody starts a turn of these sessions meanwhile. */
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

/** Blobs that only these sessions refer to, and old ones that nobody does. */
function unneededBlobs(
  database: StoreDatabase,
  stateDir: string,
  sessions: readonly StoredSession[],
): readonly string[] {
  const leaving = new Set(sessions.map(({ number }) => number));
  const needed = new Set<string>();
  const named = new Set<string>();
  for (const row of database.prepare("SELECT session, json FROM events").iterate()) {
    const digests = leaving.has(integerOf(row, "session")) ? named : needed;
    for (const [digest] of textOf(row, "json").matchAll(/\b[0-9a-f]{64}\b/g)) digests.add(digest);
  }
  const young = Date.now() - orphanAge;
  const directory = join(stateDir, "blobs");
  const found = existsSync(directory) ? readdirSync(directory, { recursive: true, withFileTypes: true }) : [];
  return found
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name) && !needed.has(entry.name))
    .filter((entry) => named.has(entry.name) || statSync(join(entry.parentPath, entry.name)).mtimeMs < young)
    .map((entry) => entry.name);
}
