import type { LoggedEvent, SessionEvent } from "@gennai/agent/session-event";
import {
  AppendConflict,
  type LogBatch,
  type SessionFilter,
  type SessionHead,
  type SessionLog,
} from "../sessions/log/session-log.ts";
import type { StoreDatabase } from "./database.ts";
import { EventTails } from "./event-tails.ts";
import type { LedgerTable, Sealing } from "./ledger/ledger-table.ts";
import { integerOf, type Row, textOf } from "./row.ts";
import { StoreError } from "./store-error.ts";

/** Milliseconds between looks for what other processes appended. */
const pollInterval = 200;
/** A page of a tail: whichever is reached first. */
const pageEvents = 512;
const pageCharacters = 1_048_576;

const headColumns = "s.id, w.root, u.user, s.title, s.created, s.updated, s.last_seq, s.epoch";

/** One step of a log that is kept elsewhere, as its copy here takes it. */
export type AbsorbedStep =
  | {
      readonly type: "create";
      readonly sessionId: string;
      readonly workspaceRoot: string;
      readonly user: string;
      readonly time: number;
      /** What stood in the ledger's file before the first record of a new workspace. */
      readonly preamble: Uint8Array;
    }
  | { readonly type: "take-over"; readonly sessionId: string; readonly epoch: number }
  | { readonly type: "title"; readonly sessionId: string; readonly title: string }
  | {
      readonly type: "batch";
      readonly sessionId: string;
      readonly batch: LogBatch;
      readonly expected: { readonly seq: number; readonly epoch: number };
      readonly sealing: Sealing;
      /** True: the ledger's file in the workspace is brought up to date from here. */
      readonly mirrored: boolean;
    };

/** Sessions in SQLite. Several processes may use one file: whoever appends first wins, the other gets `AppendConflict`. */
export class SqliteSessionLog implements SessionLog {
  readonly #database: StoreDatabase;
  readonly #ledger: LedgerTable;
  readonly #tails = new EventTails();
  readonly #statements: ReturnType<typeof prepareStatements>;
  #poller: NodeJS.Timeout | undefined;
  #seenVersion = 0;

  /** The database stays its opener's to close. */
  constructor(database: StoreDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = prepareStatements(database);
  }

  async create(session: {
    readonly sessionId: string;
    readonly workspaceRoot: string;
    readonly time: number;
    readonly user?: string;
  }): Promise<SessionHead> {
    const { sessionId, workspaceRoot, time, user = "" } = session;
    this.#database.transaction({ durable: true }, () => {
      if (this.#headRow(sessionId) !== undefined) {
        throw new StoreError("session_exists", `Session ${sessionId} exists already: resume it or choose another id.`);
      }
      const workspace = this.#ledger.workspace(workspaceRoot);
      this.#insertSession(sessionId, user, workspace, time);
    });
    this.#ledger.changed(workspaceRoot);
    return { sessionId, workspaceRoot, user, title: "", created: time, updated: time, lastSeq: 0, epoch: 1 };
  }

  async head(sessionId: string): Promise<SessionHead | undefined> {
    this.#database.assertOpen();
    const row = this.#headRow(sessionId);
    return row && headOf(row);
  }

  async list({ workspaceRoot, user, limit }: SessionFilter): Promise<readonly SessionHead[]> {
    this.#database.assertOpen();
    const { listAll, listOfWorkspace, listOfUser, listOfUserAndWorkspace } = this.#statements;
    if (user === undefined) {
      return (workspaceRoot === undefined ? listAll.all(limit) : listOfWorkspace.all(workspaceRoot, limit)).map(headOf);
    }
    const rows =
      workspaceRoot === undefined
        ? listOfUser.all(user, limit)
        : listOfUserAndWorkspace.all(user, workspaceRoot, limit);
    return rows.map(headOf);
  }

  async setTitle(sessionId: string, title: string): Promise<void> {
    this.#database.transaction({ durable: false }, () => {
      const { changes } = this.#statements.setTitle.run(title.toWellFormed(), sessionId);
      if (changes === 0) throw unknownSession(sessionId);
    });
  }

  async takeOver(sessionId: string): Promise<number> {
    const row = this.#database.transaction({ durable: true }, () => {
      const taken = this.#statements.takeOver.get(sessionId);
      if (taken === undefined) throw unknownSession(sessionId);
      return taken;
    });
    const head = this.#headRow(sessionId);
    if (head !== undefined) this.#ledger.changed(textOf(head, "root"));
    return integerOf(row, "epoch");
  }

  async append(
    sessionId: string,
    batch: LogBatch,
    expected: { readonly seq: number; readonly epoch: number },
  ): Promise<readonly LoggedEvent[]> {
    // Serialised before the transaction: nobody waits for it, and what cannot be serialised fails early.
    const prepared = prepareBatch(batch, expected.seq);
    const workspace = this.#database.transaction({ durable: batch.durable }, () =>
      this.#insertBatch(sessionId, prepared, expected),
    );
    if (prepared.logged.length > 0) this.#tails.publish(sessionId, prepared.logged, charactersOf(prepared));
    if (batch.ledger.length > 0) this.#ledger.changed(this.#ledger.rootOf(workspace));
    return prepared.logged;
  }

  /**
   * For a copy of a log that is kept elsewhere: takes steps that were accepted there, in one transaction with `also`. Throws
   * when they do not follow from what is here.
   */
  absorb(steps: readonly AbsorbedStep[], also: () => void): void {
    const grown = new Set<string>();
    const batches = steps.map((step) =>
      step.type === "batch" ? prepareBatch(step.batch, step.expected.seq) : undefined,
    );
    this.#database.transaction({ durable: false }, () => {
      for (const [index, step] of steps.entries()) {
        const { sessionId } = step;
        switch (step.type) {
          case "create":
            this.#insertSession(
              sessionId,
              step.user,
              this.#ledger.workspaceWithPreamble(step.workspaceRoot, step.preamble),
              step.time,
            );
            break;
          case "take-over":
            if (this.#statements.setEpoch.run(step.epoch, sessionId, step.epoch - 1).changes === 0)
              throw unknownSession(sessionId);
            break;
          case "title":
            this.#statements.setTitle.run(step.title, sessionId);
            break;
          case "batch": {
            const prepared = batches[index];
            if (prepared === undefined) break;
            const workspace = this.#insertBatch(sessionId, prepared, step.expected, step.sealing);
            if (step.mirrored && step.batch.ledger.length > 0) grown.add(this.#ledger.rootOf(workspace));
            break;
          }
        }
      }
      also();
    });
    for (const [index, prepared] of batches.entries()) {
      const sessionId = steps[index]?.sessionId;
      if (prepared !== undefined && sessionId !== undefined && prepared.logged.length > 0)
        this.#tails.publish(sessionId, prepared.logged, charactersOf(prepared));
    }
    for (const root of grown) this.#ledger.changed(root);
  }

  #insertSession(sessionId: string, user: string, workspace: number, time: number): void {
    const { lastInsertRowid } = this.#statements.insertSession.run(sessionId, workspace, time, time);
    // A number comes again after a purge, which may have been an older Gennai's.
    this.#statements.removeUser.run(lastInsertRowid);
    if (user !== "") this.#statements.insertUser.run(lastInsertRowid, user);
  }

  #insertBatch(
    sessionId: string,
    { batch, logged, lines, updated }: PreparedBatch,
    expected: { readonly seq: number; readonly epoch: number },
    sealing?: Sealing,
  ): number {
    const { advance, insertEvent, spendToken } = this.#statements;
    const row = advance.get(expected.seq + logged.length, updated, sessionId, expected.seq, expected.epoch);
    if (row === undefined) throw this.#conflict(sessionId, expected);
    const session = integerOf(row, "number");
    for (const [index, event] of logged.entries()) {
      insertEvent.run(session, event.seq, event.turnId, event.itemId, event.time, lines[index] ?? "");
    }
    for (const token of batch.spentTokens ?? []) spendToken.run(token, session, updated);
    const workspace = integerOf(row, "workspace");
    if (batch.ledger.length > 0) this.#ledger.append(workspace, batch.ledger, sealing);
    return workspace;
  }

  async read(sessionId: string, afterSeq: number, limit: number): Promise<readonly LoggedEvent[]> {
    this.#database.assertOpen();
    return this.#page(sessionId, afterSeq, limit, Number.POSITIVE_INFINITY);
  }

  async *tail(
    sessionId: string,
    afterSeq: number,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly LoggedEvent[], void, undefined> {
    const { signal } = options;
    if (signal.aborted) return;
    this.#database.assertOpen();
    if (this.#headRow(sessionId) === undefined) throw unknownSession(sessionId);

    const tail = this.#tails.add(sessionId);
    const stop = (): void => {
      // Here too, for a reader that never comes back after its signal aborted.
      this.#release(tail);
      tail.wake();
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#startPolling();
    try {
      let after = afterSeq;
      while (!signal.aborted && this.#tails.isOpen) {
        let events = tail.takeAfter(after);
        if (events === undefined) {
          events = this.#page(sessionId, after, pageEvents, pageCharacters);
          if (events.length === 0) tail.caughtUp();
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
    this.#tails.close();
    clearInterval(this.#poller);
    this.#poller = undefined;
  }

  #page(sessionId: string, afterSeq: number, limit: number, maxCharacters: number): LoggedEvent[] {
    const events: LoggedEvent[] = [];
    let characters = 0;
    for (const row of this.#statements.readEvents.iterate(sessionId, afterSeq, limit)) {
      const json = textOf(row, "json");
      events.push({
        seq: integerOf(row, "seq"),
        turnId: textOf(row, "turn"),
        itemId: textOf(row, "item"),
        time: integerOf(row, "time"),
        event: eventOf(json),
      });
      characters += json.length;
      if (characters >= maxCharacters) break;
    }
    return events;
  }

  #headRow(sessionId: string): Row | undefined {
    return this.#statements.head.get(sessionId);
  }

  #conflict(sessionId: string, expected: { readonly seq: number; readonly epoch: number }): Error {
    const row = this.#headRow(sessionId);
    if (row === undefined) return unknownSession(sessionId);
    const head = headOf(row);
    return new AppendConflict(
      head.epoch === expected.epoch
        ? `Session ${sessionId} is at seq ${head.lastSeq}, not ${expected.seq}: another writer was faster. Read on and append again.`
        : `Session ${sessionId} was taken over (epoch ${head.epoch}, not ${expected.epoch}): stop writing to it.`,
    );
  }

  #startPolling(): void {
    if (this.#poller !== undefined) return;
    this.#seenVersion = this.#database.dataVersion();
    this.#poller = setInterval(() => {
      this.#wakeOnForeignCommit();
    }, pollInterval);
  }

  #wakeOnForeignCommit(): void {
    try {
      const version = this.#database.dataVersion();
      if (version === this.#seenVersion) return;
      this.#seenVersion = version;
    } catch {
      // The tails find the same trouble when they read, and their readers get to know.
    }
    this.#tails.wakeAll();
  }

  #release(tail: Disposable): void {
    tail[Symbol.dispose]();
    if (!this.#tails.isEmpty) return;
    clearInterval(this.#poller);
    this.#poller = undefined;
  }
}

interface PreparedBatch {
  readonly batch: LogBatch;
  readonly logged: readonly LoggedEvent[];
  readonly lines: readonly string[];
  readonly updated: number;
}

function charactersOf({ lines }: PreparedBatch): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

function prepareBatch(batch: LogBatch, afterSeq: number): PreparedBatch {
  return {
    batch,
    lines: batch.events.map((draft) => JSON.stringify(draft.event)),
    logged: batch.events.map(
      ({ turnId, itemId, time, event }, index): LoggedEvent => ({
        seq: afterSeq + 1 + index,
        turnId,
        itemId,
        time,
        event,
      }),
    ),
    updated: batch.events.at(-1)?.time ?? batch.ledger.at(-1)?.time ?? 0,
  };
}

function prepareStatements(database: StoreDatabase) {
  const joined =
    "sessions s JOIN workspaces w ON w.number = s.workspace LEFT JOIN session_users u ON u.session = s.number";
  const newest = "ORDER BY s.updated DESC, s.number DESC LIMIT ?";
  return {
    insertSession: database.prepare(
      "INSERT INTO sessions (id, workspace, title, created, updated, last_seq, epoch) VALUES (?, ?, '', ?, ?, 0, 1)",
    ),
    removeUser: database.prepare("DELETE FROM session_users WHERE session = ?"),
    insertUser: database.prepare("INSERT INTO session_users (session, user) VALUES (?, ?)"),
    head: database.prepare(`SELECT ${headColumns} FROM ${joined} WHERE s.id = ?`),
    listAll: database.prepare(`SELECT ${headColumns} FROM ${joined} ${newest}`),
    listOfWorkspace: database.prepare(`SELECT ${headColumns} FROM ${joined} WHERE w.root = ? ${newest}`),
    listOfUser: database.prepare(`SELECT ${headColumns} FROM ${joined} WHERE u.user = ? ${newest}`),
    listOfUserAndWorkspace: database.prepare(
      `SELECT ${headColumns} FROM ${joined} WHERE u.user = ? AND w.root = ? ${newest}`,
    ),
    setTitle: database.prepare("UPDATE sessions SET title = ? WHERE id = ?"),
    takeOver: database.prepare("UPDATE sessions SET epoch = epoch + 1 WHERE id = ? RETURNING epoch"),
    setEpoch: database.prepare("UPDATE sessions SET epoch = ? WHERE id = ? AND epoch = ?"),
    advance: database.prepare(
      `UPDATE sessions SET last_seq = ?, updated = max(updated, ?)
       WHERE id = ? AND last_seq = ? AND epoch = ? RETURNING number, workspace`,
    ),
    insertEvent: database.prepare(
      "INSERT INTO events (session, seq, turn, item, time, json) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    spendToken: database.prepare("INSERT INTO spent_tokens (sha256, session, time) VALUES (?, ?, ?)"),
    readEvents: database.prepare(
      `SELECT seq, turn, item, time, json FROM events
       WHERE session = (SELECT number FROM sessions WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?`,
    ),
  };
}

function headOf(row: Row): SessionHead {
  return {
    sessionId: textOf(row, "id"),
    workspaceRoot: textOf(row, "root"),
    user: row["user"] === null ? "" : textOf(row, "user"),
    title: textOf(row, "title"),
    created: integerOf(row, "created"),
    updated: integerOf(row, "updated"),
    lastSeq: integerOf(row, "last_seq"),
    epoch: integerOf(row, "epoch"),
  };
}

function unknownSession(sessionId: string): StoreError {
  return new StoreError(
    "unknown_session",
    `There is no session ${sessionId}: list the sessions to find the one you mean.`,
  );
}

function eventOf(json: string): SessionEvent {
  const value: unknown = JSON.parse(json);
  if (!isEvent(value))
    throw new StoreError("corrupt", "An event in the log is damaged: restore the state directory from a backup.");
  return value;
}

/** Only `append` writes events, so their type is what makes them one. */
function isEvent(value: unknown): value is SessionEvent {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
