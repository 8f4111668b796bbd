import type { LoggedEvent } from "@gennai/agent/events/session-event";
import type { StoreDatabase } from "../database/database.ts";
import type { LedgerTable, Sealing } from "../ledger/ledger-table.ts";
import type { AbsorbedStep, Forgetting } from "../log/absorbed-step.ts";
import type {
  ForgottenSession,
  LogBatch,
  LogPlace,
  NewSession,
  SessionFilter,
  SessionHead,
  SessionLog,
} from "../log/session-log.ts";
import { appendConflict, sessionDeleted, sessionExists, unknownSession } from "../log/session-refusals.ts";
import { EventTails } from "./event-tails.ts";
import { type BatchRows, batchRows, SessionTable } from "./session-table.ts";
import { SharedTransactions } from "./shared-transactions.ts";

/** A page of a tail: whichever is reached first. */
const tailPage = { events: 512, characters: 1_048_576 };

/** Sessions in SQLite. Several processes may use one file: anyone who appends first wins, the other gets `AppendConflict`. */
export class SqliteSessionLog implements SessionLog {
  readonly #database: StoreDatabase;
  readonly #ledger: LedgerTable;
  readonly #sessions: SessionTable;
  readonly #shared: SharedTransactions;
  readonly #tails = new EventTails();
  readonly #foreign: ForeignCommits;
  readonly #forgetting: Forgetting;

  /** The caller that opened the database also closes it. */
  constructor(database: StoreDatabase, ledger: LedgerTable, forgetting: Forgetting) {
    this.#database = database;
    this.#shared = new SharedTransactions(database);
    this.#forgetting = forgetting;
    this.#ledger = ledger;
    this.#sessions = new SessionTable(database);
    this.#foreign = new ForeignCommits(database, () => this.#tails.wakeAll());
  }

  async create({ sessionId, workspaceRoot, time, user = "" }: NewSession): Promise<SessionHead> {
    this.#database.transaction({ durable: false }, () => {
      if (this.#sessions.head(sessionId) !== undefined) throw sessionExists(sessionId);
      this.#sessions.insert({ sessionId, user, workspace: this.#ledger.workspace(workspaceRoot), time });
    });
    this.#ledger.changed(workspaceRoot);
    return { sessionId, workspaceRoot, user, title: "", created: time, updated: time, lastSeq: 0, epoch: 1 };
  }

  async head(sessionId: string): Promise<SessionHead | undefined> {
    this.#database.assertOpen();
    return this.#sessions.head(sessionId);
  }

  async list(filter: SessionFilter): Promise<readonly SessionHead[]> {
    this.#database.assertOpen();
    return this.#sessions.list(filter);
  }

  async setTitle(sessionId: string, title: string): Promise<void> {
    this.#database.transaction({ durable: false }, () => {
      if (!this.#sessions.setTitle(sessionId, title.toWellFormed())) throw unknownSession(sessionId);
    });
  }

  async takeOver(sessionId: string): Promise<number> {
    this.#shared.runAll();
    const epoch = this.#database.transaction({ durable: true }, () => this.#sessions.takeOver(sessionId));
    if (epoch === undefined) throw unknownSession(sessionId);
    const head = this.#sessions.head(sessionId);
    if (head !== undefined) this.#ledger.changed(head.workspaceRoot);
    return epoch;
  }

  async append(sessionId: string, batch: LogBatch, expected: LogPlace): Promise<readonly LoggedEvent[]> {
    const rows = batchRows(batch, expected.seq);
    const workspace = await this.#shared.run({ durable: batch.durable }, () => this.#insert(sessionId, rows, expected));
    this.#publish(sessionId, rows);
    if (batch.ledger.length > 0) this.#ledger.changed(this.#ledger.rootOf(workspace));
    return rows.logged;
  }

  async forget(sessionId: string, by: string): Promise<ForgottenSession> {
    this.#shared.runAll();
    const head = await this.head(sessionId);
    if (head === undefined) throw unknownSession(sessionId);
    const forgotten = await this.#forgetting.forget(head, by);
    this.#tails.wake(sessionId);
    return forgotten;
  }

  /**
   * For a copy of a log that is kept elsewhere: takes steps that were accepted there, in one transaction with `also`. Throws if
   * they do not follow the present state.
   */
  absorb(steps: readonly AbsorbedStep[], also: () => void): void {
    const batches: { readonly sessionId: string; readonly rows: BatchRows }[] = [];
    const prepared = steps.map((step) => {
      if (step.type !== "batch") return step;
      const rows = batchRows(step.batch, step.expected.seq);
      batches.push({ sessionId: step.sessionId, rows });
      return { ...step, rows };
    });
    const grown = new Set<string>();
    const forgotten: string[] = [];
    this.#database.transaction({ durable: false }, () => {
      for (const step of prepared) {
        const { sessionId } = step;
        switch (step.type) {
          case "create": {
            const { user, time } = step;
            const workspace = this.#ledger.workspaceWithPreamble(step.workspaceRoot, step.preamble);
            this.#sessions.insert({ sessionId, user, workspace, time });
            break;
          }
          case "take-over":
            if (!this.#sessions.setEpoch(sessionId, step.epoch)) throw unknownSession(sessionId);
            break;
          case "title":
            this.#sessions.setTitle(sessionId, step.title);
            break;
          case "forget": {
            const head = this.#sessions.head(sessionId);
            if (head === undefined) throw unknownSession(sessionId);
            this.#forgetting.absorb(head, step);
            forgotten.push(sessionId);
            break;
          }
          case "batch": {
            const workspace = this.#insert(sessionId, step.rows, step.expected, step.sealing);
            if (step.mirrored && step.batch.ledger.length > 0) grown.add(this.#ledger.rootOf(workspace));
            break;
          }
        }
      }
      also();
    });
    for (const { sessionId, rows } of batches) this.#publish(sessionId, rows);
    for (const sessionId of forgotten) this.#tails.wake(sessionId);
    for (const root of grown) this.#ledger.changed(root);
  }

  async read(sessionId: string, afterSeq: number, limit: number): Promise<readonly LoggedEvent[]> {
    this.#database.assertOpen();
    return this.#sessions.events(sessionId, afterSeq, { events: limit, characters: Number.POSITIVE_INFINITY });
  }

  async *tail(
    sessionId: string,
    afterSeq: number,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly LoggedEvent[], void, undefined> {
    const { signal } = options;
    if (signal.aborted) return;
    this.#database.assertOpen();
    if (this.#sessions.head(sessionId) === undefined) throw unknownSession(sessionId);

    const tail = this.#tails.add(sessionId);
    const stop = (): void => {
      // Here too, for a reader that never comes back after its signal aborted.
      this.#release(tail);
      tail.wake();
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#foreign.watch();
    try {
      let after = afterSeq;
      while (!signal.aborted && this.#tails.isOpen) {
        let events = tail.takeAfter(after);
        if (events === undefined) {
          events = this.#sessions.events(sessionId, after, tailPage);
          if (events.length === 0) {
            if (this.#sessions.head(sessionId) === undefined) throw sessionDeleted(sessionId);
            tail.caughtUp();
          }
        }
        const last = events.at(-1);
        if (last === undefined) await tail.changed();
        else {
          after = last.seq;
          yield events;
        }
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.#release(tail);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shared.runAll();
    this.#tails.close();
    this.#foreign.stop();
    // Who waits for it hears of a failure.
    await this.#database.sync().catch(() => undefined);
  }

  /** The workspace's number. Within a transaction. */
  #insert(sessionId: string, rows: BatchRows, expected: LogPlace, sealing?: Sealing): number {
    const workspace = this.#sessions.append(sessionId, rows, expected);
    if (workspace === undefined) throw this.#conflict(sessionId, expected);
    if (rows.batch.ledger.length > 0) this.#ledger.append(workspace, rows.batch.ledger, sealing);
    return workspace;
  }

  #conflict(sessionId: string, expected: LogPlace): Error {
    const head = this.#sessions.head(sessionId);
    if (head === undefined) return unknownSession(sessionId);
    return appendConflict(sessionId, { seq: head.lastSeq, epoch: head.epoch }, expected);
  }

  #publish(sessionId: string, { logged, characters }: BatchRows): void {
    if (logged.length > 0) this.#tails.publish(sessionId, logged, characters);
  }

  #release(tail: Disposable): void {
    tail[Symbol.dispose]();
    if (this.#tails.isEmpty) this.#foreign.stop();
  }
}

/** Milliseconds between looks. */
const pollInterval = 200;

/** Reports commits of other connections, also in other processes. */
class ForeignCommits {
  readonly #database: StoreDatabase;
  readonly #onCommit: () => void;
  #poller: NodeJS.Timeout | undefined;
  #seenVersion = 0;

  /** @param onCommit also called if watching fails: whoever reads then finds the cause */
  constructor(database: StoreDatabase, onCommit: () => void) {
    this.#database = database;
    this.#onCommit = onCommit;
  }

  /** Starts watching; repeated calls have no effect. */
  watch(): void {
    if (this.#poller !== undefined) return;
    this.#seenVersion = this.#database.dataVersion();
    this.#poller = setInterval(() => this.#look(), pollInterval);
  }

  stop(): void {
    clearInterval(this.#poller);
    this.#poller = undefined;
  }

  #look(): void {
    try {
      const version = this.#database.dataVersion();
      if (version === this.#seenVersion) return;
      this.#seenVersion = version;
    } catch {
      // The readers find the same trouble when they read, and get to know.
    }
    this.#onCommit();
  }
}
