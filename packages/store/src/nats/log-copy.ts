import { Buffer } from "node:buffer";
import type { StoreDatabase } from "../database/database.ts";
import { integerOf, textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import type { AbsorbedStep } from "../log/absorbed-step.ts";
import type { SqliteSessionLog } from "../sqlite/sqlite-session-log.ts";
import {
  type LockMessage,
  parseLockSubject,
  parseSessionSubject,
  parseTokenSubject,
  type SessionMessage,
} from "./log-message.ts";
import { BrokenChain, type ChainLink } from "./message-chain.ts";

/** Position of a session's log. */
export interface LogPosition {
  readonly seq: number;
  readonly epoch: number;
  /** Number of the newest message. */
  readonly number: number;
  /** Replica that the newest epoch belongs to; empty if no replica owns it. */
  readonly owner: string;
  /** Digest of all messages of the session. */
  readonly digest: string;
}

/** A message of the stream. */
export interface ArrivedMessage {
  /** Position in the stream. */
  readonly position: number;
  readonly subject: string;
  /** Undefined if it does not belong to a session. */
  readonly message: SessionMessage | undefined;
  /** Of a session's message. */
  readonly link?: ChainLink;
  readonly lock?: LockMessage;
}

/** State of a lock according to the log. */
export interface LockState extends LockMessage {
  /** Number of the newest message about it. */
  readonly number: number;
  /** Position of that message in the stream. */
  readonly position: number;
}

const schema = [
  `CREATE TABLE IF NOT EXISTS log_copy (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    stream TEXT NOT NULL,
    position INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS log_copy_sessions (
    session TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    owner TEXT NOT NULL,
    digest TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS log_copy_locks (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    replica TEXT NOT NULL,
    what TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS log_copy_tokens (
    sha256 TEXT PRIMARY KEY,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/**
 * This replica's copy of the log: sessions and ledgers in SQLite, built from the stream's messages in their order, so that
 * every replica's copy is identical. It can be deleted, and is then rebuilt.
 */
export class LogCopy {
  readonly #sessions: SqliteSessionLog;
  readonly #mirrors: (owner: string) => boolean;
  readonly #statements: ReturnType<typeof prepareStatements>;
  #position: number;
  readonly #passedOver = new Set<number>();

  /**
   * Throws `StoreError` `not_a_store` for a database that holds something else.
   * @param options.mirrors whether the ledger's file is written from here for what this owner appended
   */
  constructor(
    database: StoreDatabase,
    sessions: SqliteSessionLog,
    options: { readonly stream: string; readonly mirrors: (owner: string) => boolean },
  ) {
    this.#sessions = sessions;
    this.#mirrors = options.mirrors;
    database.transaction({ durable: true }, () => {
      for (const statement of schema) database.prepare(statement).run();
      const row = database.prepare("SELECT stream FROM log_copy").get();
      if (row === undefined) {
        if (database.prepare("SELECT 1 FROM sessions LIMIT 1").get() !== undefined) throw foreign(database.file);
        database.prepare("INSERT INTO log_copy (one, stream, position) VALUES (1, ?, 0)").run(options.stream);
      } else if (textOf(row, "stream") !== options.stream) throw foreign(database.file);
    });
    this.#statements = prepareStatements(database);
    this.#position = integerOf(this.#statements.position.get() ?? {}, "position");
  }

  /** Position of the last message in the copy; 0 for none. */
  get position(): number {
    return this.#position;
  }

  /** Undefined for a session that does not exist, or no longer exists. */
  place(sessionId: string): LogPosition | undefined {
    const row = this.#statements.place.get(sessionId);
    if (row === undefined) return undefined;
    return {
      seq: integerOf(row, "last_seq"),
      epoch: integerOf(row, "epoch"),
      number: integerOf(row, "number"),
      owner: textOf(row, "owner"),
      digest: textOf(row, "digest"),
    };
  }

  /** Position in the stream of the first message that spends a token; undefined if it is not spent. */
  spentAt(token: string): number | undefined {
    const row = this.#statements.spentAt.get(token);
    return row && integerOf(row, "position");
  }

  lock(name: string): LockState | undefined {
    const row = this.#statements.lock.get(name);
    if (row === undefined) return undefined;
    return {
      number: integerOf(row, "number"),
      position: integerOf(row, "position"),
      replica: textOf(row, "replica"),
      what: textOf(row, "what"),
    };
  }

  /** True for a message without effect: it came after another one with its number, or does not follow the ones before. */
  isPassedOver(position: number): boolean {
    return this.#passedOver.has(position);
  }

  /**
   * Takes the next messages, all or none. Throws when they do not follow; `BrokenChain` when their writer had read others.
   * @param voided positions of messages that are passed over although their number is the next
   */
  take(messages: readonly ArrivedMessage[], voided: ReadonlySet<number> = new Set()): void {
    const last = messages.at(-1);
    if (last === undefined) return;
    const steps: AbsorbedStep[] = [];
    const spent = new Map<string, number>();
    const locks = new Map<string, LockState>();
    const places = new Map<string, Pick<LogPosition, "number" | "owner" | "digest">>();
    for (const { position, subject, message, link, lock } of messages) {
      const locked = lock && parseLockSubject(subject);
      if (locked !== undefined && lock !== undefined) {
        const before = locks.get(locked.name) ?? this.lock(locked.name);
        if (locked.number === (before?.number ?? 0) + 1) locks.set(locked.name, { ...lock, ...locked, position });
      }
      const token = parseTokenSubject(subject);
      if (token !== undefined && !spent.has(token)) spent.set(token, position);
      const name = parseSessionSubject(subject);
      if (name === undefined || message === undefined || link === undefined) continue;
      const { sessionId, number } = name;
      const before = places.get(sessionId) ?? this.#read(sessionId) ?? { number: -1, owner: "", digest: "" };
      // The first message of a number counts. NATS was seen to store a second one, from a writer that had lost.
      if (number <= before.number) {
        this.#passedOver.add(position);
        continue;
      }
      if (before.number + 1 !== number) {
        throw new StoreError("corrupt", `The log lacks a message before ${subject}: restore the NATS stream.`);
      }
      if (link.after !== before.digest) {
        if (!voided.has(position)) throw new BrokenChain(sessionId, position, before.digest);
        this.#passedOver.add(position);
        places.set(sessionId, { ...before, number });
        continue;
      }
      const step = stepOf(message, sessionId, this.#mirrors(before.owner));
      if (step !== undefined) steps.push(step);
      const owner = message.kind === "create" || message.kind === "take-over" ? message.owner : before.owner;
      places.set(sessionId, { number, owner, digest: link.digest });
    }
    this.#sessions.absorb(steps, () => {
      for (const [sessionId, { number, owner, digest }] of places)
        this.#statements.setPlace.run(sessionId, number, owner, digest);
      for (const [name, { number, position, replica, what }] of locks)
        this.#statements.setLock.run(name, number, position, replica, what);
      for (const [token, position] of spent) this.#statements.spend.run(token, position);
      this.#statements.setPosition.run(last.position);
    });
    this.#position = last.position;
  }

  /** The last position read of a session, even of one that is gone: a message for it may still come. */
  #read(sessionId: string): Pick<LogPosition, "number" | "owner" | "digest"> | undefined {
    const row = this.#statements.read.get(sessionId);
    return row && { number: integerOf(row, "number"), owner: textOf(row, "owner"), digest: textOf(row, "digest") };
  }
}

function stepOf(message: SessionMessage, sessionId: string, mirrored: boolean): AbsorbedStep | undefined {
  switch (message.kind) {
    case "create":
      return {
        type: "create",
        sessionId,
        workspaceRoot: message.workspaceRoot,
        user: message.user ?? "",
        time: message.time,
        preamble: Buffer.from(message.preamble, "base64"),
      };
    case "take-over":
      return { type: "take-over", sessionId, epoch: message.epoch };
    case "title":
      return { type: "title", sessionId, title: message.title };
    case "forget": {
      const { by, time, salt, toolVersion } = message;
      return { type: "forget", sessionId, by, time, salt, toolVersion };
    }
    case "batch": {
      const { events, ledger, spentTokens, seq, epoch, toolVersion } = message;
      return {
        type: "batch",
        sessionId,
        batch: { events, ledger: ledger.map(({ entry }) => entry), spentTokens, durable: false },
        expected: { seq, epoch },
        sealing: { salts: ledger.map(({ salt }) => salt), toolVersion },
        mirrored,
      };
    }
    case "elsewhere":
      return undefined;
  }
}

function foreign(file: string): StoreError {
  return new StoreError(
    "not_a_store",
    `${file} holds other sessions than those of this log: set GENNAI_STATE_DIR to a directory of its own for a replica.`,
  );
}

function prepareStatements(database: StoreDatabase) {
  return {
    position: database.prepare("SELECT position FROM log_copy"),
    setPosition: database.prepare("UPDATE log_copy SET position = ?"),
    place: database.prepare(
      `SELECT s.last_seq, s.epoch, c.number, c.owner, c.digest FROM log_copy_sessions c JOIN sessions s ON s.id = c.session
       WHERE c.session = ?`,
    ),
    read: database.prepare("SELECT number, owner, digest FROM log_copy_sessions WHERE session = ?"),
    lock: database.prepare("SELECT number, position, replica, what FROM log_copy_locks WHERE name = ?"),
    setLock: database.prepare(
      "INSERT OR REPLACE INTO log_copy_locks (name, number, position, replica, what) VALUES (?, ?, ?, ?, ?)",
    ),
    spentAt: database.prepare("SELECT position FROM log_copy_tokens WHERE sha256 = ?"),
    spend: database.prepare("INSERT OR IGNORE INTO log_copy_tokens (sha256, position) VALUES (?, ?)"),
    setPlace: database.prepare(
      `INSERT INTO log_copy_sessions (session, number, owner, digest) VALUES (?, ?, ?, ?)
       ON CONFLICT (session) DO UPDATE SET number = excluded.number, owner = excluded.owner, digest = excluded.digest`,
    ),
  };
}
