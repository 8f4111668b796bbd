import { originOf } from "@gennai/governance/ledger/anchor/checkpoint";
import { databaseFile, StoreDatabase, syncCommits } from "../database/database.ts";
import { integerOf, textOf } from "../database/row.ts";
import { storeErrorOf } from "../database/store-error.ts";

/** Records that a destination does not have yet, all of one ledger, in order. */
export interface ExportBatch {
  readonly workspace: number;
  readonly origin: string;
  readonly records: readonly { readonly seq: number; readonly hash: string; readonly line: string }[];
}

/** What a destination lacks. */
export interface ExportBacklog {
  readonly records: number;
  /** RFC 3339, of the oldest record that it lacks; undefined if it lacks none. */
  readonly since: string | undefined;
  /** Why it takes nothing; empty: it does. */
  readonly trouble: string;
}

const most = { records: 512, bytes: 1_048_576 };

/** How far each destination has the ledgers of a state directory: the ledger itself is the queue. */
export class ExportCursor implements Disposable {
  readonly #database: StoreDatabase;

  private constructor(database: StoreDatabase) {
    this.#database = database;
  }

  /** Rejects with `StoreError`. */
  static async open(stateDir: string): Promise<ExportCursor> {
    return new ExportCursor(await StoreDatabase.open(databaseFile(stateDir)));
  }

  /** Resolves when what `next` gave is on the disk: after a power cut, nobody else has what the ledger lacks. */
  onDisk(): Promise<void> {
    return syncCommits(this.#database.file);
  }

  /** The next records for a destination; undefined if it has all. */
  next(name: string): ExportBatch | undefined {
    const behind = this.#database.prepare(behindQuery).get(name);
    if (behind === undefined) return undefined;
    const [workspace, after] = [integerOf(behind, "workspace"), integerOf(behind, "sent")];
    const first = this.#database.prepare("SELECT hash FROM ledger WHERE workspace = ? AND seq = 1").get(workspace);
    const records: { seq: number; hash: string; line: string }[] = [];
    let bytes = 0;
    const rows = this.#database.prepare(
      "SELECT seq, hash, line FROM ledger WHERE workspace = ? AND seq > ? ORDER BY seq LIMIT ?",
    );
    for (const row of rows.iterate(workspace, after, most.records)) {
      const line = textOf(row, "line");
      bytes += line.length;
      if (bytes > most.bytes && records.length > 0) break;
      records.push({ seq: integerOf(row, "seq"), hash: textOf(row, "hash"), line });
    }
    if (first === undefined || records.length === 0) return undefined;
    return { workspace, origin: originOf(textOf(first, "hash")), records };
  }

  /** The destination has confirmed these, and takes records. */
  confirm(name: string, { workspace, records }: ExportBatch): void {
    const last = records.at(-1);
    if (last === undefined) return;
    this.#database.transaction({ durable: false }, () => {
      this.#database
        .prepare("INSERT OR REPLACE INTO export_cursor (name, workspace, seq, hash) VALUES (?, ?, ?, ?)")
        .run(name, workspace, last.seq, last.hash);
      this.#database.prepare("DELETE FROM export_trouble WHERE name = ?").run(name);
    });
  }

  /** The destination takes nothing. @param time milliseconds since the epoch */
  trouble(name: string, text: string, time: number): void {
    this.#database.transaction({ durable: false }, () =>
      this.#database
        .prepare("INSERT OR REPLACE INTO export_trouble (name, text, time) VALUES (?, ?, ?)")
        .run(name, text, time),
    );
  }

  /** The destination took records and rejected some, in words, which may not be sent again by itself. */
  gap(name: string, { origin, records }: ExportBatch, why: string): void {
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined) return;
    const made = this.#database.prepare("SELECT json_extract(?, '$.timestamp') AS since").get(first.line);
    const since = made === undefined ? "" : textOf(made, "since");
    this.#database.transaction({ durable: false }, () =>
      this.#addGap(name, origin, { first: first.seq, last: last.seq, since, why }),
    );
  }

  /** A person had sent these records once more, and they were taken: what else is in gaps stays. */
  fillGaps(name: string, origin: string, sent: { readonly from: number; readonly to: number }): void {
    const { from, to } = sent;
    this.#database.transaction({ durable: false }, () => {
      const rows = this.#database
        .prepare(
          "DELETE FROM export_gaps WHERE name = ? AND origin = ? AND first <= ? AND last >= ? RETURNING first, last, since, why",
        )
        .all(name, origin, to, from);
      for (const row of rows) {
        const [first, last] = [integerOf(row, "first"), integerOf(row, "last")];
        const gap = { since: textOf(row, "since"), why: textOf(row, "why") };
        if (first < from) this.#addGap(name, origin, { ...gap, first, last: from - 1 });
        if (last > to) this.#addGap(name, origin, { ...gap, first: to + 1, last });
      }
    });
  }

  #addGap(name: string, origin: string, gap: Gap): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO export_gaps (name, origin, first, last, since, why) VALUES (?, ?, ?, ?, ?, ?)")
      .run(name, origin, gap.first, gap.last, gap.since, gap.why);
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

/** Numbers of records, both taken and of which some were rejected. */
interface Gap {
  readonly first: number;
  readonly last: number;
  /** RFC 3339, of its oldest record or an older one. */
  readonly since: string;
  readonly why: string;
}

/** Of each workspace the first record that a destination lacks: it looks at no others. */
const firstsQuery = `
  SELECT number AS workspace, coalesce(export_cursor.seq, 0) AS sent,
    (SELECT json_extract(line, '$.timestamp') FROM ledger
     WHERE ledger.workspace = number AND ledger.seq > coalesce(export_cursor.seq, 0) ORDER BY ledger.seq LIMIT 1) AS since
  FROM workspaces LEFT JOIN export_cursor ON export_cursor.workspace = number AND export_cursor.name = ?`;

const behindQuery = `SELECT workspace, sent FROM (${firstsQuery}) WHERE since IS NOT NULL ORDER BY workspace LIMIT 1`;

/**
 * When the oldest record was made that a destination lacks, or rejected; undefined if there is none. Milliseconds since the epoch. Throws
 * `StoreError`.
 */
export function oldestUnsent(stateDir: string, name: string): number | undefined {
  const file = databaseFile(stateDir);
  using connection = StoreDatabase.openReadOnly(file);
  try {
    const rows = connection
      ?.prepare(
        `SELECT since FROM (${firstsQuery}) WHERE since IS NOT NULL UNION SELECT since FROM export_gaps WHERE name = ?`,
      )
      .all(name, name);
    const times = (rows ?? []).map((row) => Date.parse(textOf(row, "since")));
    return times.length === 0 ? undefined : Math.min(...times);
  } catch (error) {
    throw storeErrorOf(error, file);
  }
}

/** What a destination lacks of the ledgers of a state directory. Throws `StoreError`. */
export function exportBacklog(stateDir: string, name: string): ExportBacklog {
  const file = databaseFile(stateDir);
  using connection = StoreDatabase.openReadOnly(file);
  if (connection === undefined) return { records: 0, since: undefined, trouble: "" };
  try {
    const behind = connection
      .prepare(
        `SELECT count(*) AS records, min(json_extract(line, '$.timestamp')) AS since FROM ledger
         WHERE seq > coalesce((SELECT seq FROM export_cursor WHERE name = ? AND workspace = ledger.workspace), 0)`,
      )
      .get(name);
    // A gap stays: nobody may send again what a receiver rejected.
    const troubles = connection
      .prepare(
        `SELECT text FROM export_trouble WHERE name = ? UNION ALL
         SELECT 'Of records ' || first || ' to ' || last || ' of ' || origin || ', ' || why FROM export_gaps WHERE name = ?`,
      )
      .all(name, name);
    const records = behind === undefined ? 0 : integerOf(behind, "records");
    return {
      records,
      since: behind === undefined || records === 0 ? undefined : textOf(behind, "since"),
      trouble: troubles.map((row) => textOf(row, "text")).join("; "),
    };
  } catch (error) {
    // A version that does not export has not made the tables.
    if (error instanceof Error && error.message.includes("no such table"))
      return { records: 0, since: undefined, trouble: "" };
    throw storeErrorOf(error, file);
  }
}
