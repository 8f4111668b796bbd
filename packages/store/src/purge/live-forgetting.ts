import { errorMessage } from "@gennai/protocol/error-message";
import pLimit from "p-limit";
import type { StoreDatabase } from "../database/database.ts";
import { createPurgeJobs } from "../database/purge-job-table.ts";
import { integerOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import type { LedgerMirror } from "../ledger/ledger-mirror.ts";
import type { LedgerTable } from "../ledger/ledger-table.ts";
import type { Forgetting } from "../log/absorbed-step.ts";
import type { ForgottenSession, SessionHead } from "../log/session-log.ts";
import { unknownSession } from "../log/session-refusals.ts";
import { forgetRows, forgetSessions, storedSessions } from "./forget-sessions.ts";
import { awaitsCompaction, awaitsSweep, compactPurged, eraseFreedPages, sweepPurges } from "./purge-jobs.ts";

/** Milliseconds until what is left of a purge is tried again; longer each time for what stops everybody. */
const againMs = 60_000;
const longestAgainMs = 60 * 60_000;
const mostAbsorbed = 100;
/** Milliseconds for which nobody wrote to the database before it is compacted, and after which it is compacted all the same. */
const usualPace = { quietMs: 15_000, latestMs: 10 * 60_000 };
/** Milliseconds that the end of the process waits for others that use the database; otherwise the next process compacts it. */
const lastTimeoutMs = 500;

export interface LiveStore {
  readonly database: StoreDatabase;
  readonly table: LedgerTable;
  readonly mirror: LedgerMirror;
  /** Throws `StoreError` `rolled_back`. */
  readonly watch: { assertForward(): void };
  /** Real path. */
  readonly stateDir: string;
  readonly onWarning: (text: string) => void;
  readonly pace?: { readonly quietMs: number; readonly latestMs: number };
}

/**
 * Forgets sessions of a store that is in use: rows at once, and everything else as soon as possible. Compacting the database
 * blocks everybody, so it waits until the database is idle, and is done once for all forgotten sessions.
 */
export class LiveForgetting implements Forgetting, AsyncDisposable {
  readonly #store: LiveStore;
  readonly #inOrder = pLimit(1);
  #timer: NodeJS.Timeout | undefined;
  #compacting: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** True if this process swept a purge, and has not compacted the database since. */
  #owesCompaction = false;
  /** Number of successive failures. */
  #failures = 0;
  /** What went with sessions that were absorbed lately, for the one who asked for it. */
  readonly #absorbed = new Map<string, ForgottenSession>();

  constructor(store: LiveStore) {
    this.#store = store;
    createPurgeJobs(store.database);
  }

  async forget({ sessionId, workspaceRoot }: SessionHead, by: string): Promise<ForgottenSession> {
    const { database, watch } = this.#store;
    watch.assertForward();
    eraseFreedPages(database);
    const stored = this.#find(sessionId, workspaceRoot);
    const { events, records, blobs } = await forgetSessions(this.#store, {
      ...stored,
      workspaceRoot,
      scope: "session",
      by,
      time: Date.now(),
      besideOthers: true,
    });
    await this.finish();
    return { events, records, blobs };
  }

  absorb({ sessionId, workspaceRoot }: SessionHead, step: Parameters<Forgetting["absorb"]>[1]): void {
    eraseFreedPages(this.#store.database);
    const { by, time, salt, toolVersion } = step;
    const { events, records, blobs } = forgetRows(this.#store, {
      ...this.#find(sessionId, workspaceRoot),
      workspaceRoot,
      scope: "session",
      by,
      time,
      besideOthers: true,
      sealing: { salt, toolVersion },
    });
    this.#absorbed.set(sessionId, { events, records, blobs });
    for (const id of this.#absorbed.keys()) if (this.#absorbed.size > mostAbsorbed) this.#absorbed.delete(id);
  }

  /** Like `finish`; returns what was removed with an absorbed session. */
  async finishAbsorbed(sessionId: string): Promise<ForgottenSession> {
    await this.finish();
    return this.#absorbed.get(sessionId) ?? { events: 0, records: 0, blobs: 0 };
  }

  /**
   * Resolves when what was purged is removed everywhere, or a failure was reported and will be retried. Copies within the
   * database file are removed when the database is idle. Never rejects.
   */
  finish(): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#isClosed) return;
      try {
        // What was swept before, the one who swept it compacts when that stops nobody, or a later server does.
        this.#owesCompaction ||= awaitsSweep(this.#store.database);
        await sweepPurges(this.#store);
        this.#compactWhenQuiet();
      } catch (error) {
        this.#store.onWarning(`A purge is not finished: ${errorMessage(error)}`);
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.finish(), againMs);
        this.#timer.unref();
      }
    });
  }

  /** Compacts the database first, if this process has swept without compacting. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#compacting);
    // One that is under way uses the database.
    await this.#inOrder(async () => {
      if (this.#owesCompaction) await this.#compact(lastTimeoutMs);
    });
  }

  #compactWhenQuiet(): void {
    const { database, pace = usualPace } = this.#store;
    // Closed while a purge was finished: the database is about to be.
    if (this.#isClosed || this.#compacting !== undefined || !awaitsCompaction(database)) return;
    const latest = performance.now() + pace.latestMs;
    let before = writesOf(database);
    this.#compacting = setInterval(() => {
      const now = writesOf(database);
      const isQuiet = now === before;
      before = now;
      if (!isQuiet && performance.now() < latest) return;
      clearInterval(this.#compacting);
      this.#compacting = undefined;
      void this.#inOrder(async () => {
        await this.#compact();
        if (this.#isClosed) return;
        if (this.#failures === 0) return this.#compactWhenQuiet();
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.finish(), Math.min(longestAgainMs, againMs * 2 ** this.#failures));
        this.#timer.unref();
      });
    }, pace.quietMs);
    this.#compacting.unref();
  }

  /** Never rejects. */
  async #compact(timeoutMs?: number): Promise<void> {
    try {
      await compactPurged(this.#store.database, timeoutMs);
      this.#failures = 0;
      this.#owesCompaction = false;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures > 1) return;
      this.#store.onWarning(`Copies of what was purged may still be in the database's file: ${errorMessage(error)}`);
    }
  }

  #find(sessionId: string, workspaceRoot: string) {
    const workspace = this.#store.table.find(workspaceRoot);
    if (workspace === undefined) throw new StoreError("unknown_session", `${workspaceRoot} has no sessions.`);
    const sessions = storedSessions(this.#store.database, workspace, sessionId);
    if (sessions.length === 0) throw unknownSession(sessionId);
    return { workspace, sessions };
  }
}

/** Changes with every write, by this connection or another. */
function writesOf(database: StoreDatabase): string {
  const own = database.prepare("SELECT total_changes() AS changes").get();
  const others = database.prepare("PRAGMA data_version").get();
  return `${own && integerOf(own, "changes")} ${others && integerOf(others, "data_version")}`;
}
