import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { isAttemptCopy } from "@gennai/machine/workspace/paths/attempt-copy";
import { recoverChanges } from "@gennai/shell/stages/recover-changes";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { refuseLogCopy } from "../database/log-copy-guard.ts";
import { createPurgeJobs, pendingPurges } from "../database/purge-job-table.ts";
import { integerOf, textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import { openLedgers } from "../ledger/open-ledgers.ts";
import { forgetPurgedNotes } from "./forget-notes.ts";
import { type ForgetOrder, forgetSessions, type PurgeReport, storedSessions } from "./forget-sessions.ts";
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

export interface MemoryPurge extends PurgeReport {
  /** Git notes of the repository that told about purged writes, of this purge's and of earlier ones. */
  readonly notes: number;
}

/**
 * Forgets one session, or all of a workspace and of its copies for attempts: its log, title, blobs that nobody else needs, the content of its ledger records,
 * copies and temporary files. The chain of the ledger still holds, and a tombstone tells what was purged, when and by whom.
 * Rows go in one transaction; what a crash leaves undone is done when the store is opened next, or by a purge again.
 * Does what an earlier purge or deletion left undone, too, of notes also what a version before this one left.
 * Rejects with `StoreError`: `unknown_session`, `busy` while one of the sessions runs a turn, or git is at its notes.
 */
export async function purgeMemory(request: PurgeRequest): Promise<MemoryPurge> {
  const stateDir = await prepareStateDirectory(request.stateDir);
  if (!existsSync(databaseFile(stateDir))) return nothing;
  await recoverChanges(stateDir);
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
  const wasLeft = pendingPurges(database).some(({ job }) => job.sessionIds.includes(sessionId ?? ""));
  const before = await finishPurges(parts);
  const workspace = table.find(workspaceRoot);
  const sessions = workspace === undefined ? [] : storedSessions(database, workspace, sessionId);
  const earlier = workspace === undefined ? 0 : await forgetPurgedNotes(parts, { workspace, workspaceRoot });
  const notes = before + earlier;
  if (sessionId !== undefined && sessions.length === 0) {
    if (wasLeft || notes > 0) return { ...nothing, notes };
    throw new StoreError(
      "unknown_session",
      `There is no session ${sessionId} of ${workspaceRoot}: list the sessions to find the one you mean.`,
    );
  }
  const order = { by: request.by ?? userInfo().username, time: Date.now() };
  const reports: PurgeReport[] = [];
  for (const copy of sessionId === undefined ? copiesOf(database, workspaceRoot) : []) {
    const all = storedSessions(database, copy.workspace, undefined);
    reports.push(await forgetSessions(parts, { ...copy, sessions: all, scope: "workspace", ...order }));
  }
  if (workspace !== undefined) {
    const scope = sessionId === undefined ? "workspace" : "session";
    reports.push(await forgetSessions(parts, { workspace, workspaceRoot, sessions, scope, ...order }));
  }
  const sum = (part: keyof PurgeReport) => reports.reduce((all, report) => all + report[part], 0);
  const removed = { sessions: sum("sessions"), events: sum("events"), records: sum("records"), blobs: sum("blobs") };
  return { ...removed, notes: notes + (reports.length === 0 ? 0 : await finishPurges(parts)) };
}

/** The workspace's copies in which prompts were tried. */
function copiesOf(
  database: StoreDatabase,
  original: string,
): readonly Pick<ForgetOrder, "workspace" | "workspaceRoot">[] {
  const rows = database.prepare("SELECT number, root FROM workspaces").all();
  return rows
    .map((row) => ({ workspace: integerOf(row, "number"), workspaceRoot: textOf(row, "root") }))
    .filter(({ workspaceRoot }) => isAttemptCopy(workspaceRoot, original));
}

const nothing: MemoryPurge = { sessions: 0, events: 0, records: 0, blobs: 0, notes: 0 };
