import { originOf } from "@gennai/governance/ledger/anchor/checkpoint";
import { databaseFile, StoreDatabase } from "../database/database.ts";
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

  /** A person had sent once more what a destination rejected. */
  forgetGap(name: string): void {
    this.#database.transaction({ durable: false }, () =>
      this.#database.prepare("DELETE FROM export_trouble WHERE name = ?").run(gapOf(name)),
    );
  }

  /** The destination took records and rejected some, which may not be sent again by itself. */
  gap(name: string, text: string, time: number): void {
    this.trouble(gapOf(name), text, time);
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

function gapOf(name: string): string {
  return `${name} gap`;
}

const behindQuery = `
  SELECT ledger.workspace AS workspace, coalesce(export_cursor.seq, 0) AS sent FROM ledger
  LEFT JOIN export_cursor ON export_cursor.workspace = ledger.workspace AND export_cursor.name = ?
  GROUP BY ledger.workspace HAVING max(ledger.seq) > sent ORDER BY ledger.workspace LIMIT 1`;

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
    const troubles = connection.prepare("SELECT text FROM export_trouble WHERE name IN (?, ?)").all(name, gapOf(name));
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
