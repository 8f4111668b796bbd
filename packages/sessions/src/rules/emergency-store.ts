import { statSync } from "node:fs";
import { switched } from "@gennai/governance/limits/emergency-state";
import { errorMessage } from "@gennai/protocol/error-message";
import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import { noEmergency } from "@gennai/protocol/model/governance/emergency";
import type { StoreDatabase } from "@gennai/store/database/database";
import { integerOf, type Row, textOf } from "@gennai/store/database/row";
import type { Sealing } from "@gennai/store/ledger/ledger-table";
import { type LedgerStore, openLedgerStore } from "@gennai/store/ledger/open-ledgers";
import * as z from "zod";
import {
  checkedRequest,
  type EmergencyChange,
  type EmergencyRequest,
  emergencyEntry,
  emergencyRequestFields,
} from "./emergency-change.ts";

/** Maximum milliseconds until a change by another process is noticed; decisions check at once. */
const watchMs = 100;
/** Two changes of one control within this time are made without knowing each other: the stricter one wins. */
const sameMomentMs = 250;

/** In the same database as the ledger, so that one transaction covers both and neither can be lost alone. */
const schema = `
  CREATE TABLE IF NOT EXISTS emergency_changes (
    number INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    change TEXT NOT NULL
  ) STRICT;
  -- Which ledgers have a record of which change, so that several processes write one.
  CREATE TABLE IF NOT EXISTS emergency_records (
    change INTEGER NOT NULL REFERENCES emergency_changes (number),
    workspace INTEGER NOT NULL,
    PRIMARY KEY (change, workspace)
  ) STRICT, WITHOUT ROWID;
`;

const stateSchema = z.strictObject({
  readOnly: z.boolean(),
  disableHighImpact: z.boolean(),
  blockedTools: z.array(z.string()),
  stopAll: z.boolean(),
});

const changeSchema = z.strictObject({
  ...emergencyRequestFields,
  effective: z.boolean(),
  state: stateSchema,
});

export interface EmergencyStoreOptions {
  readonly toolVersion?: string;
  readonly onWarning: (text: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** True for a replica of a shared log: changes come from that log, in its order. */
  readonly shared?: boolean;
}

/** What makes a change identical in every replica. */
export interface SharedChange {
  /** Of the change. */
  readonly number: number;
  readonly time: number;
  sealing(workspaceRoot: string): Sealing;
}

/** The emergency controls of a state directory: persistent, and visible to every process that uses it. */
export class EmergencyStore implements AsyncDisposable {
  readonly #ledgers: LedgerStore;
  readonly #now: () => number;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #inode: bigint;
  readonly #listeners = new Set<(changes: readonly EmergencyChange[]) => void>();
  readonly #watch: NodeJS.Timeout;
  #newest: EmergencyChange | undefined;
  #announced: number;
  #problem: string | undefined;

  /** Rejects with `StoreError`. */
  static async open(stateDir: string, options: EmergencyStoreOptions): Promise<EmergencyStore> {
    await using parts = new AsyncDisposableStack();
    const store = new EmergencyStore(parts.use(await openLedgerStore(stateDir, options)), options.now);
    parts.move();
    return store;
  }

  private constructor(ledgers: LedgerStore, now: () => number) {
    const { database } = ledgers;
    database.transaction({ durable: true }, () => {
      for (const statement of schema.split(/;\s*\n/)) if (statement.trim() !== "") database.prepare(statement).run();
    });
    this.#ledgers = ledgers;
    this.#now = now;
    this.#statements = prepareStatements(database);
    this.#inode = statSync(database.file, { bigint: true }).ino;
    this.#newest = this.#readNewest();
    this.#announced = this.#newest?.number ?? 0;
    this.#watch = setInterval(() => this.#look(), watchMs);
    this.#watch.unref();
  }

  /** The current state, including changes by other processes. If it cannot be read, nothing may be changed. */
  current(): EmergencyState & { readonly problem?: string } {
    try {
      this.#assertSameFile();
      this.#newest = this.#readNewest();
      return this.#newest?.state ?? noEmergency;
    } catch (error) {
      const problem = `the emergency controls cannot be read: ${errorMessage(error)}`;
      return { ...(this.#newest?.state ?? noEmergency), readOnly: true, problem };
    }
  }

  /**
   * Changes a control and records it in the ledger of each of these workspaces, in one transaction. Throws `ServiceError`
   * `invalid_argument`, or `StoreError` if it cannot be saved; then nothing has changed.
   */
  change(asked: EmergencyRequest, workspaceRoots: Iterable<string>): EmergencyChange {
    return this.#change(asked, [...workspaceRoots], undefined);
  }

  /** Applies a change that all replicas make, with a record in every existing ledger; undefined if it was applied before. */
  changeShared(asked: EmergencyRequest, shared: SharedChange): EmergencyChange | undefined {
    if (shared.number <= this.newestNumber) return undefined;
    const roots = this.#ledgers.table.newestOfAll().map(({ root }) => root);
    return this.#change(asked, roots, shared);
  }

  /** Number of the newest change; 0 if there is none. */
  get newestNumber(): number {
    return this.#readNewest()?.number ?? 0;
  }

  #change(asked: EmergencyRequest, roots: readonly string[], shared: SharedChange | undefined): EmergencyChange {
    const request = checkedRequest(asked);
    this.#assertSameFile();
    const change = this.#ledgers.database.transaction({ durable: true }, () => {
      const newest = this.#readNewest();
      const time = shared?.time ?? this.#now();
      const effective = !this.#losesAgainstAnother(request, time);
      const before = newest?.state ?? noEmergency;
      const made = {
        ...request,
        effective,
        state: effective ? switched(before, request) : before,
        time,
        number: shared?.number ?? (newest?.number ?? 0) + 1,
      };
      const { number: _number, time: _time, ...kept } = made;
      this.#statements.insert.run(made.number, time, JSON.stringify(kept));
      this.#appendRecords(made, roots, shared);
      return made;
    });
    for (const root of roots) this.#ledgers.table.changed(root);
    this.#look(change);
    return change;
  }

  /** Adds a change to the ledgers that have no record of it yet. */
  record(change: EmergencyChange, workspaceRoots: Iterable<string>): void {
    const roots = [...workspaceRoots];
    this.#ledgers.database.transaction({ durable: true }, () => this.#appendRecords(change, roots));
    for (const root of roots) this.#ledgers.table.changed(root);
  }

  /** Newest last, at most `limit`. */
  history(limit: number): readonly EmergencyChange[] {
    return this.#statements.last.all(limit).map(changeOf).reverse();
  }

  /**
   * Reports changes by any process within a fraction of a second, each once; an empty list means that reading failed or works
   * again.
   */
  onChange(listener: (changes: readonly EmergencyChange[]) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#watch);
    this.#listeners.clear();
    await this.#ledgers[Symbol.asyncDispose]();
  }

  /** @param own the change made by this very call, passed on as the same object */
  #look(own?: EmergencyChange): void {
    const { problem } = this.current();
    const isNews = (problem === undefined) !== (this.#problem === undefined);
    this.#problem = problem;
    let changes: readonly EmergencyChange[] = [];
    if (problem === undefined && (this.#newest?.number ?? 0) > this.#announced) {
      changes = this.#statements.after
        .all(this.#announced)
        .map((row) => (own !== undefined && integerOf(row, "number") === own.number ? own : changeOf(row)));
      this.#announced = this.#newest?.number ?? this.#announced;
    }
    if (changes.length === 0 && !isNews) return;
    for (const listener of [...this.#listeners]) listener(changes);
  }

  #appendRecords(change: EmergencyChange, roots: readonly string[], shared?: SharedChange): void {
    // A control works even while nothing can be recorded; what is missing is recorded with the next session.
    if (shared === undefined && this.#ledgers.watch.stepBacks.length > 0) return;
    for (const root of new Set(roots)) {
      const workspace = this.#ledgers.table.workspace(root);
      if (this.#statements.claim.run(change.number, workspace).changes === 0) continue;
      this.#ledgers.table.append(workspace, [emergencyEntry(change)], shared?.sealing(root));
    }
  }

  #losesAgainstAnother(request: EmergencyRequest, time: number): boolean {
    if (request.enabled) return false;
    return this.#statements.last
      .all(20)
      .map(changeOf)
      .some(
        (other) =>
          other.enabled &&
          other.control === request.control &&
          other.tool === request.tool &&
          other.by !== request.by &&
          Math.abs(time - other.time) < sameMomentMs,
      );
  }

  #readNewest(): EmergencyChange | undefined {
    const row = this.#statements.newest.get();
    if (row === undefined) {
      // There was a change before, so the table was emptied.
      if (this.#newest !== undefined) throw new Error("its record of changes is gone");
      return undefined;
    }
    return integerOf(row, "number") === this.#newest?.number ? this.#newest : changeOf(row);
  }

  /** Throws if the file was replaced with another one. */
  #assertSameFile(): void {
    this.#ledgers.database.assertOpen();
    const now = statSync(this.#ledgers.database.file, { bigint: true, throwIfNoEntry: false });
    if (now?.ino !== this.#inode) throw new Error("its file was removed or replaced; restart the server");
  }
}

function changeOf(row: Row): EmergencyChange {
  const change = changeSchema.parse(JSON.parse(textOf(row, "change")));
  return { ...change, number: integerOf(row, "number"), time: integerOf(row, "time") };
}

function prepareStatements(database: StoreDatabase) {
  return {
    newest: database.prepare("SELECT number, time, change FROM emergency_changes ORDER BY number DESC LIMIT 1"),
    last: database.prepare("SELECT number, time, change FROM emergency_changes ORDER BY number DESC LIMIT ?"),
    after: database.prepare("SELECT number, time, change FROM emergency_changes WHERE number > ? ORDER BY number"),
    insert: database.prepare("INSERT INTO emergency_changes (number, time, change) VALUES (?, ?, ?)"),
    claim: database.prepare("INSERT OR IGNORE INTO emergency_records (change, workspace) VALUES (?, ?)"),
  };
}
