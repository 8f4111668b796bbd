import { createHash, randomBytes } from "node:crypto";
import { countLaidOut } from "@gennai/governance/ledger/laid-out-records";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { type RecordPosition, sealRecord, workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { type NextKey, signHead } from "@gennai/governance/ledger/ledger-signature";
import { withoutContent } from "@gennai/governance/ledger/record-content";
import type { StoreDatabase } from "../database/database.ts";
import { bytesOf, integerOf, textOf } from "../database/row.ts";
import type { EvidenceWatch } from "./evidence-watch.ts";
import { readPreamble } from "./file/ledger-file.ts";
import { ledgerHeadFile, writeFirstHead } from "./ledger-head-file.ts";
import { isSignedHere, type LedgerSigner } from "./ledger-key.ts";
import { readLostHead, rollbackEntry } from "./rollback-record.ts";

/** A record as written in the ledger's file; `seq` 0 is the content before the first record. */
export interface LedgerRow {
  readonly seq: number;
  readonly hash: string;
  /** With the line break. */
  readonly bytes: Uint8Array;
  /** Offset in the file of the byte after the record. */
  readonly endOffset: number;
}

export interface LedgerTableOptions {
  readonly signer: LedgerSigner;
  /** Directory of the signed heads. */
  readonly stateDir: string;
  readonly watch: Pick<EvidenceWatch, "assertForward">;
  readonly toolVersion?: string;
  /** Called after a commit, when the ledger of a workspace may have grown. */
  readonly onChange: (workspaceRoot: string) => void;
  readonly onWarning: (text: string) => void;
}

/** Further content of a record that must be equal in every replica that seals it. */
export interface Sealing {
  /** One for each entry, 32 random hex digits each. */
  readonly salts: readonly string[];
  /** Version of the Gennai that acted. */
  readonly toolVersion?: string;
}

/** The authority of every workspace's ledger: chained, signed rows. */
export class LedgerTable {
  readonly #options: LedgerTableOptions;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #roots = new Map<number, string>();

  constructor(database: StoreDatabase, options: LedgerTableOptions) {
    this.#options = options;
    this.#statements = prepareStatements(database);
  }

  /** Number of a workspace, which is added if it is new. Only inside a transaction. */
  workspace(root: string): number {
    const known = this.find(root);
    if (known !== undefined) return known;
    return Number(this.#statements.insertWorkspace.run(root).lastInsertRowid);
  }

  find(root: string): number | undefined {
    const row = this.#statements.findWorkspace.get(root);
    return row && integerOf(row, "number");
  }

  rootOf(workspace: number): string {
    const known = this.#roots.get(workspace);
    if (known !== undefined) return known;
    const row = this.#statements.rootOfWorkspace.get(workspace);
    if (row === undefined) throw new TypeError(`There is no workspace ${workspace}.`);
    const root = textOf(row, "root");
    this.#roots.set(workspace, root);
    return root;
  }

  /**
   * Number of a workspace. For a new one, `preamble` is the content that its ledger's first record covers: not the file's present
   * content, to which another replica may have begun to write. Only inside a transaction.
   */
  workspaceWithPreamble(root: string, preamble: Uint8Array): number {
    const known = this.find(root);
    if (known !== undefined) return known;
    const workspace = this.workspace(root);
    if (preamble.length > 0) this.#statements.setPreamble.run(preamble, workspace);
    return workspace;
  }

  /**
   * Chains and signs entries after the newest record. Throws `StoreError` `rolled_back` while the store is behind what was
   * signed. Only inside a transaction, whose write lock keeps several processes from forking the chain. With `sealing`, equal
   * entries in equal order produce equal bytes everywhere.
   */
  append(workspace: number, entries: readonly LedgerEntry[], sealing?: Sealing): void {
    this.#append(workspace, entries, undefined, sealing);
  }

  /**
   * Adds to every ledger a record with which the present key hands it over, and puts the new key in force for every process.
   * Returns the roots of the workspaces. Only inside a transaction.
   */
  handOver(entry: Omit<LedgerEntry, "kind">, next: NextKey): readonly string[] {
    const workspaces = this.#statements.workspacesWithRecords.all().map((row) => integerOf(row, "workspace"));
    for (const workspace of workspaces) this.#append(workspace, [{ ...entry, kind: "key" }], next);
    this.#statements.insertKey.run(next.keyId, entry.time);
    return workspaces.map((workspace) => this.rootOf(workspace));
  }

  /** Changes to the key that the ledgers were handed over to last, by any process. */
  useCurrentKey(): void {
    const current = this.#statements.currentKey.get();
    if (current !== undefined) this.#options.signer.use(textOf(current, "key_id"));
  }

  #append(workspace: number, entries: readonly LedgerEntry[], next: NextKey | undefined, sealing?: Sealing): void {
    const { signer, stateDir } = this.#options;
    // Records of other replicas are taken as they come: only their log can step back.
    if (sealing === undefined) this.#options.watch.assertForward();
    const toolVersion = sealing === undefined ? this.#options.toolVersion : sealing.toolVersion;
    this.useCurrentKey();
    const records = [...entries];
    const newest = this.#statements.newest.get(workspace);
    let place: RecordPosition;
    let endOffset: number;
    if (newest === undefined) {
      const preamble = sealing === undefined ? this.#keepPreamble(workspace) : this.preamble(workspace);
      endOffset = preamble.length;
      const genesis = {
        workspace: workspaceIdOf(this.rootOf(workspace)),
        preamble_bytes: preamble.length,
        preamble_sha256: createHash("sha256").update(preamble).digest("hex"),
      };
      place = { seq: 1, genesis };
      const head = { workspace: genesis.workspace, seq: 0, hash: "" };
      // If a ledger was lost completely, its first record says so.
      const lost = sealing === undefined ? readLostHead(stateDir, genesis.workspace) : undefined;
      const time = entries[0]?.time ?? 0;
      if (lost !== undefined) records.unshift(rollbackEntry({ from: lost.seq, to: 0, head: lost }, { by: "", time }));
      writeFirstHead(ledgerHeadFile(stateDir, this.rootOf(workspace)), signHead(head, signer));
    } else {
      endOffset = integerOf(newest, "end_offset");
      place = { seq: integerOf(newest, "seq") + 1, previousHash: textOf(newest, "hash") };
    }
    for (const [index, entry] of records.entries()) {
      const { seq, hash, line } = sealRecord(entry, place, signer, {
        salt: sealing?.salts[index] ?? randomBytes(16).toString("hex"),
        ...(toolVersion === undefined ? {} : { toolVersion }),
        ...(next === undefined ? {} : { next }),
      });
      endOffset += Buffer.byteLength(line) + 1;
      this.#statements.insert.run(workspace, seq, hash, line, endOffset);
      place = { seq: seq + 1, previousHash: hash };
    }
  }

  /**
   * Removes the content of the records of one session, or of all, and returns their seqs. Tombstones keep their content. Only
   * inside a transaction; afterwards the file must be rewritten before it is compared with the rows.
   */
  purge(workspace: number, sessionId: string | undefined): readonly number[] {
    const purged: number[] = [];
    let moved = 0;
    for (const row of this.#statements.whole.all(workspace)) {
      const seq = integerOf(row, "seq");
      const line = textOf(row, "line");
      const mayGo =
        row["kind"] !== "purge" &&
        row["kind"] !== "rollback" &&
        row["purged"] !== 1 &&
        (sessionId === undefined || row["session"] === sessionId);
      const kept = mayGo ? withoutContent(line) : line;
      if (mayGo) purged.push(seq);
      moved += Buffer.byteLength(kept) - Buffer.byteLength(line);
      if (moved !== 0) this.#statements.replace.run(kept, integerOf(row, "end_offset") + moved, workspace, seq);
    }
    return purged;
  }

  changed(workspaceRoot: string): void {
    this.#options.onChange(workspaceRoot);
  }

  /** The newest seq of every workspace's ledger. */
  newestOfAll(): readonly { readonly root: string; readonly seq: number }[] {
    return this.#statements.newestOfAll.all().map((row) => ({ root: textOf(row, "root"), seq: integerOf(row, "seq") }));
  }

  /** The newest record; undefined if there is none. */
  newest(workspace: number): LedgerRow | undefined {
    const row = this.#statements.newest.get(workspace);
    return row && this.row(workspace, integerOf(row, "seq"));
  }

  row(workspace: number, seq: number): LedgerRow | undefined {
    if (seq === 0) {
      const bytes = this.preamble(workspace);
      return { seq: 0, hash: "", bytes, endOffset: bytes.length };
    }
    const row = this.#statements.row.get(workspace, seq);
    if (row === undefined) return undefined;
    return {
      seq,
      hash: textOf(row, "hash"),
      bytes: lineBytes(textOf(row, "line")),
      endOffset: integerOf(row, "end_offset"),
    };
  }

  /** Bytes of records after `seq`, in pages that grow little beyond 1 MiB. */
  *bytesAfter(workspace: number, seq: number): Generator<Uint8Array, void, undefined> {
    let after = seq;
    for (;;) {
      const lines: Uint8Array[] = [];
      let size = 0;
      for (const row of this.#statements.after.iterate(workspace, after)) {
        const line = lineBytes(textOf(row, "line"));
        lines.push(line);
        size += line.length;
        after = integerOf(row, "seq");
        if (size >= 1_048_576) break;
      }
      if (lines.length === 0) return;
      yield Buffer.concat(lines);
    }
  }

  preamble(workspace: number): Uint8Array {
    const row = this.#statements.preamble.get(workspace);
    return row === undefined || row["preamble"] === null ? new Uint8Array() : bytesOf(row, "preamble");
  }

  /** Content of the ledger's file from before Gennai wrote to it stays there and is covered by the first record. */
  #keepPreamble(workspace: number): Uint8Array {
    const preamble = readPreamble(this.rootOf(workspace), isSignedHere(this.#options.stateDir));
    if (preamble.length > 0) this.#statements.setPreamble.run(preamble, workspace);
    const laidOut = countLaidOut(Buffer.from(preamble).toString());
    if (laidOut > 0) this.#options.onWarning(laidOutWarning(this.rootOf(workspace), laidOut));
    return preamble;
  }
}

function laidOutWarning(root: string, count: number): string {
  const what = count === 1 ? "a record" : `${count} records`;
  return (
    `The ledger of ${root} begins with ${what} over several lines, as its first format had them. They are unsigned and stay ` +
    "as they are; new records go below them, one a line, and the first of those signs for their bytes. There is nothing to do."
  );
}

function lineBytes(line: string): Uint8Array {
  return Buffer.from(`${line}\n`);
}

function prepareStatements(database: StoreDatabase) {
  return {
    findWorkspace: database.prepare("SELECT number FROM workspaces WHERE root = ?"),
    insertWorkspace: database.prepare("INSERT INTO workspaces (root) VALUES (?)"),
    rootOfWorkspace: database.prepare("SELECT root FROM workspaces WHERE number = ?"),
    preamble: database.prepare("SELECT preamble FROM workspaces WHERE number = ?"),
    setPreamble: database.prepare("UPDATE workspaces SET preamble = ? WHERE number = ?"),
    newest: database.prepare("SELECT seq, hash, end_offset FROM ledger WHERE workspace = ? ORDER BY seq DESC LIMIT 1"),
    currentKey: database.prepare("SELECT key_id FROM ledger_keys ORDER BY number DESC LIMIT 1"),
    insertKey: database.prepare("INSERT INTO ledger_keys (key_id, time) VALUES (?, ?)"),
    newestOfAll: database.prepare(
      "SELECT root, max(seq) AS seq FROM ledger JOIN workspaces ON number = workspace GROUP BY workspace",
    ),
    workspacesWithRecords: database.prepare("SELECT DISTINCT workspace FROM ledger ORDER BY workspace"),
    insert: database.prepare("INSERT INTO ledger (workspace, seq, hash, line, end_offset) VALUES (?, ?, ?, ?, ?)"),
    whole: database.prepare(
      `SELECT seq, line, end_offset, json_extract(line, '$.metadata.kind') AS kind,
         json_extract(line, '$.metadata.session_id') AS session, json_extract(line, '$.metadata.purged') AS purged
       FROM ledger WHERE workspace = ? ORDER BY seq`,
    ),
    replace: database.prepare("UPDATE ledger SET line = ?, end_offset = ? WHERE workspace = ? AND seq = ?"),
    row: database.prepare("SELECT hash, line, end_offset FROM ledger WHERE workspace = ? AND seq = ?"),
    after: database.prepare("SELECT seq, line FROM ledger WHERE workspace = ? AND seq > ? ORDER BY seq"),
  };
}
