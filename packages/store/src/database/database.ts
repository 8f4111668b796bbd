import { chmodSync, closeSync, constants, fdatasync, fstatSync, lstatSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { type ConnectionOptions, SqliteConnection } from "@gennai/machine/sqlite-connection";
import { hasCode } from "@gennai/machine/system-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { formatVersion, readFormatVersion, refuseNewer } from "./format-version.ts";
import { integerOf } from "./row.ts";
import { StoreError, sqliteBusy, sqliteResultCode, storeErrorOf } from "./store-error.ts";

const schema = `
  CREATE TABLE workspaces (
    number INTEGER PRIMARY KEY,
    root TEXT NOT NULL UNIQUE,
    -- What stood in the ledger's file before our first record.
    preamble BLOB,
    -- For versions before 0.3, which list the ledger's file once for each path.
    git_excluded INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace INTEGER NOT NULL REFERENCES workspaces (number),
    title TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE events (
    session INTEGER NOT NULL REFERENCES sessions (number),
    seq INTEGER NOT NULL,
    turn TEXT NOT NULL,
    item TEXT NOT NULL,
    time INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ledger (
    workspace INTEGER NOT NULL REFERENCES workspaces (number),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    line TEXT NOT NULL,
    -- Where the line, with its line break, ends in the ledger's file.
    end_offset INTEGER NOT NULL,
    PRIMARY KEY (workspace, seq)
  ) STRICT;
`;

/**
 * Tables added after the format was set, without raising it: every released Gennai that reads format 1 knows them. A version that
 * does not would accept a spent token again, sign with a key that was handed over, or leave a removed session's user to the next
 * session with its number. So a table added after the first release raises the format, unless older versions may ignore it.
 */
const additions = `
  -- Approval tokens that opened a run: each once, whatever happens to the process.
  CREATE TABLE IF NOT EXISTS spent_tokens (
    sha256 TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    time INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Keys that the ledgers were handed over to; the newest signs. Empty: the first key still does.
  CREATE TABLE IF NOT EXISTS ledger_keys (
    number INTEGER PRIMARY KEY,
    key_id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL
  ) STRICT;
  -- Whose session it is, where a server has several users.
  CREATE TABLE IF NOT EXISTS session_users (
    session INTEGER PRIMARY KEY,
    user TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS session_users_of ON session_users (user);
  -- How far each destination has the ledgers; a version that does not know it sends nothing.
  CREATE TABLE IF NOT EXISTS export_cursor (
    name TEXT NOT NULL,
    workspace INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (name, workspace)
  ) STRICT, WITHOUT ROWID;
  -- Why a destination takes nothing; no row: it does.
  CREATE TABLE IF NOT EXISTS export_trouble (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    time INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Records that a destination took and rejected, by the ledger they are of.
  CREATE TABLE IF NOT EXISTS export_gaps (
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    since TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (name, origin, first)
  ) STRICT, WITHOUT ROWID;
  -- How many durable transactions there were, to be held against what is signed outside of the database (store-mark.ts).
  CREATE TABLE IF NOT EXISTS store_mark (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    store TEXT NOT NULL,
    commits INTEGER NOT NULL
  ) STRICT;
`;

/** Path of the state directory's database. */
export function databaseFile(stateDir: string): string {
  return join(stateDir, "gennai.db");
}

/** Counts durable transactions. */
export interface CommitCounter {
  /** Called within the transaction. */
  count(): void;
  /** Called after the transaction. */
  counted(): void;
}

/** One connection to the store's file. Transactions are immediate: writers queue, and none works on an outdated view. */
export class StoreDatabase implements Disposable {
  readonly file: string;
  readonly #connection: SqliteConnection;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #dataVersion: StatementSync;
  #durable = false;
  #counter: CommitCounter | undefined;
  #log: number | undefined;
  #syncing: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  /** Why the disk did not take something: nothing after it is durable, whatever later syncs say. */
  #lost: StoreError | undefined;

  private constructor(file: string, connection: SqliteConnection) {
    this.file = file;
    this.#connection = connection;
    this.#begin = connection.prepare("BEGIN IMMEDIATE");
    this.#commit = connection.prepare("COMMIT");
    this.#dataVersion = connection.prepare("PRAGMA data_version");
  }

  /** Opens the file or creates it (0600). Rejects with `StoreError`. */
  static async open(file: string): Promise<StoreDatabase> {
    // A file that is open in this process was checked then; now only SQLite may touch it.
    if (!isOpenHere(file)) {
      refuseNewer(file, readFormatVersion(file));
      createPrivately(file);
    }
    let connection: SqliteConnection | undefined;
    try {
      connection = new CountedConnection(file, { timeout: 5_000 });
      await switchToWriteAheadLog(connection);
      connection.exec("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864");
      migrate(connection, file);
      return new StoreDatabase(file, connection);
    } catch (error) {
      connection?.[Symbol.dispose]();
      throw storeErrorOf(error, file);
    }
  }

  /** Opens for reading only; undefined if there is no file. */
  static openReadOnly(file: string): SqliteConnection | undefined {
    if (!isOpenHere(file)) {
      const version = readFormatVersion(file);
      if (version === undefined) return undefined;
      refuseNewer(file, version);
    }
    try {
      return new CountedConnection(file, { readOnly: true, timeout: 10_000 });
    } catch (error) {
      throw storeErrorOf(error, file);
    }
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /**
   * Runs `body` in one transaction, completely or not at all. `durable` waits for the disk before it returns; `counted` is for one
   * that `sync` makes durable.
   */
  transaction<Result>(
    { durable, counted = durable }: { readonly durable: boolean; readonly counted?: boolean },
    body: () => Result,
  ): Result {
    this.assertOpen();
    if (this.#lost !== undefined && counted) throw this.#lost;
    let begun = false;
    try {
      if (durable !== this.#durable) {
        // SQLite allows this only between transactions. FULL syncs the log at every commit, which includes all earlier commits.
        this.#connection.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`);
        this.#durable = durable;
      }
      this.#begin.run();
      begun = true;
      const result = body();
      if (counted) this.#counter?.count();
      this.#commit.run();
      if (counted) this.#counter?.counted();
      return result;
    } catch (error) {
      if (begun) this.#rollBack();
      throw storeErrorOf(error, this.file);
    }
  }

  countCommits(counter: CommitCounter): void {
    this.#counter = counter;
  }

  /**
   * Resolves when everything committed so far is on disk, including transactions that were not durable. Others run meanwhile, and
   * all that ask meanwhile wait for one further sync. Rejects with `StoreError`: from then on nothing is durable until the file is
   * opened again, because the system tells of lost bytes only once.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#syncAfter(this.#syncing);
    return this.#nextSync;
  }

  async #syncAfter(earlier: Promise<void> | undefined): Promise<void> {
    await earlier?.catch(() => undefined);
    this.#syncing = this.#nextSync;
    this.#nextSync = undefined;
    if (this.#lost !== undefined) throw this.#lost;
    this.assertOpen();
    try {
      // Opened for writing, because Windows syncs only such files. SQLite keeps the file as long as this connection is open.
      this.#log ??= openSync(`${this.file}-wal`, "r+");
      await datasync(this.#log);
    } catch (error) {
      const problem = `The disk did not take ${this.file}: ${errorMessage(error)}. Check it, then restart the server.`;
      this.#lost = new StoreError("io", problem, { cause: error });
      throw this.#lost;
    }
  }

  /** A number that changes with every commit of another connection, also in other processes. */
  dataVersion(): number {
    const row = this.#dataVersion.get();
    return row === undefined ? 0 : integerOf(row, "data_version");
  }

  assertOpen(): void {
    if (!this.#connection.isOpen) throw new StoreError("closed", "The store is closed: open it again to use it.");
  }

  #rollBack(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // After some errors, e.g. a full disk, SQLite has already rolled back, and reports that there is no transaction.
    }
  }

  [Symbol.dispose](): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
    this.#connection[Symbol.dispose]();
  }
}

const datasync = promisify(fdatasync);

/** Resolves when what was committed so far, also by other processes, is on disk: nothing is told elsewhere before. */
export async function syncCommits(file: string): Promise<void> {
  try {
    await using log = await open(`${file}-wal`, "r+");
    await log.datasync();
  } catch (error) {
    // The log was moved into the database, which SQLite then synced.
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

function createPrivately(file: string): void {
  try {
    const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
    const { mode } = fstatSync(descriptor);
    closeSync(descriptor);
    // SQLite gives its side files the permissions of the database file.
    if (process.getuid !== undefined && (mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch (error) {
    throw new StoreError("read_only", `${file} cannot be opened for writing: ${errorMessage(error)}`, { cause: error });
  }
}

async function switchToWriteAheadLog(connection: SqliteConnection): Promise<void> {
  // If two processes open a new file at once, SQLite reports busy here without waiting for its time-out.
  for (let attempt = 1; ; attempt++) {
    try {
      connection.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (attempt === 100 || ((sqliteResultCode(error) ?? 0) & 0xff) !== sqliteBusy) throw error;
      await delay(10);
    }
  }
}

function migrate(connection: SqliteConnection, file: string): void {
  connection.exec("BEGIN IMMEDIATE");
  const row = connection.prepare("PRAGMA user_version").get();
  const version = row === undefined ? 0 : integerOf(row, "user_version");
  refuseNewer(file, version);
  if (version === 0) connection.exec(`${schema}; PRAGMA user_version = ${formatVersion}`);
  connection.exec(additions);
  connection.exec("COMMIT");
}

/**
 * Number of this process's connections to a file, by device and inode. SQLite uses POSIX locks, which belong to the process: all
 * are released when any descriptor of the file is closed. Reading such a file without SQLite while a connection is open therefore
 * releases its locks, and another process may delete the log that the connection still writes to.
 * https://www.sqlite.org/howtocorrupt.html, 2.2
 */
const connections = new Map<string, number>();

/** A connection that is counted until it is closed. */
class CountedConnection extends SqliteConnection {
  readonly #inode: string | undefined;

  constructor(file: string, options: ConnectionOptions) {
    super(file, options);
    this.#inode = inodeOf(file);
    if (this.#inode !== undefined) connections.set(this.#inode, (connections.get(this.#inode) ?? 0) + 1);
  }

  override [Symbol.dispose](): void {
    const wasOpen = this.isOpen;
    super[Symbol.dispose]();
    if (!wasOpen || this.#inode === undefined) return;
    const left = (connections.get(this.#inode) ?? 1) - 1;
    if (left > 0) connections.set(this.#inode, left);
    else connections.delete(this.#inode);
  }
}

/** Whether this process has a connection to the file, so that nothing but SQLite may open it. */
function isOpenHere(file: string): boolean {
  const inode = inodeOf(file);
  return inode !== undefined && connections.has(inode);
}

function inodeOf(file: string): string | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
