import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  decodeSignature,
  encodeSignature,
  markMessage,
  type Signer,
  type Verifier,
} from "@gennai/governance/ledger/ledger-signature";
import { replaceFile } from "@gennai/machine/replace-file";
import { ifMissing } from "@gennai/machine/system-error";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import pLimit from "p-limit";
import * as z from "zod";
import type { CommitCounter, StoreDatabase } from "./database.ts";
import { integerOf, type Row, textOf } from "./row.ts";

/** Milliseconds for which commits are collected before they are signed: a loss of so many goes unnoticed. */
const coalescing = 200;

/** Number of a store's durable transactions. Transactions of sessions without ledger records count as well. */
export interface StoreMarkValue {
  /** Random id, made with the store: a database that replaces it has another id. */
  readonly store: string;
  readonly commits: number;
}

const markSchema = z.strictObject({
  store: z.string(),
  commits: z.number().int().nonnegative(),
  key_id: z.string(),
  signature: z.string(),
});

/** Next to the keys, not the heads: so it stays if someone restores database and heads of an earlier day. */
export function storeMarkFile(stateDir: string): string {
  return join(stateDir, "keys", "store.mark");
}

/** The mark in the database; undefined for a database older than marks. */
export function databaseMark(database: {
  prepare(sql: string): { get(): Row | undefined };
}): StoreMarkValue | undefined {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'store_mark'").get() === undefined) return undefined;
  const row = database.prepare("SELECT store, commits FROM store_mark").get();
  return row && { store: textOf(row, "store"), commits: integerOf(row, "commits") };
}

/** Undefined if there is no mark; "forged" if no known key signed it. */
export async function readStoreMark(
  file: string,
  verifier: Verifier | undefined,
): Promise<StoreMarkValue | "forged" | undefined> {
  const text = await readFile(file, "utf8").catch(ifMissing(undefined));
  if (text === undefined) return undefined;
  try {
    const { store, commits, key_id: keyId, signature } = markSchema.parse(JSON.parse(text));
    const bytes = decodeSignature(signature);
    if (bytes === undefined) return "forged";
    if (verifier?.knows(keyId) === true && !(await verifier.verify(keyId, markMessage({ store, commits }), bytes))) {
      return "forged";
    }
    return { store, commits };
  } catch {
    return "forged";
  }
}

/**
 * Counts a store's durable transactions and keeps the signed count outside of the database. The count may lag behind but is never
 * ahead: what was counted is on disk before it is signed.
 */
export class StoreMark implements CommitCounter {
  readonly #database: StoreDatabase;
  readonly #options: StoreMarkOptions;
  readonly #count: { run(): unknown };
  #timer: NodeJS.Timeout | undefined;
  readonly #inOrder = pLimit(1);
  #counts = false;

  constructor(database: StoreDatabase, options: StoreMarkOptions) {
    this.#database = database;
    this.#options = options;
    this.#count = database.prepare("UPDATE store_mark SET commits = commits + 1");
    database.countCommits(this);
  }

  /** Starts counting. A database without a count gets one; `anew` accepts the database's count, whatever was signed. */
  async begin({ anew }: { readonly anew: boolean }): Promise<void> {
    if (databaseMark(this.#database) === undefined) {
      const mark = { store: randomUUID(), commits: 0 };
      // The file is written first: a count in the database without a file then means that the file was removed.
      await this.#write(mark);
      const insert = this.#database.prepare("INSERT OR IGNORE INTO store_mark (one, store, commits) VALUES (1, ?, 0)");
      this.#database.transaction({ durable: true }, () => insert.run(mark.store));
    }
    // If several processes began at once, one of them made the count.
    const mark = databaseMark(this.#database);
    if (mark !== undefined && (anew || mark.commits === 0)) await this.#write(mark);
    this.#counts = true;
  }

  count(): void {
    if (this.#counts) this.#count.run();
  }

  counted(): void {
    if (!this.#counts || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), coalescing);
    this.#timer.unref();
  }

  /** Stops counting, because this is not the database that was counted. */
  stop(): void {
    this.#counts = false;
  }

  /** Resolves when everything counted so far is signed, or a failure was reported. Never rejects. */
  flush(): Promise<void> {
    const due = this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#inOrder(() => (due ? this.#bringUpToDate() : undefined));
  }

  async #bringUpToDate(): Promise<void> {
    if (!this.#counts) return;
    try {
      const { stateDir, verifier, onStepBack, onWritten } = this.#options;
      // The file is read first: its count was in the database by then.
      const signed = await readStoreMark(storeMarkFile(stateDir), await verifier());
      const mark = databaseMark(this.#database);
      if (mark === undefined || signed === undefined || isBehind(mark, signed)) return onStepBack();
      if (signed !== "forged" && signed.commits < mark.commits) {
        await this.#database.sync();
        await this.#write(mark);
      }
      onWritten();
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }

  async #write(mark: StoreMarkValue): Promise<void> {
    const { signer, stateDir } = this.#options;
    const signed = { ...mark, key_id: signer.keyId, signature: encodeSignature(signer.sign(markMessage(mark))) };
    await replaceFile(storeMarkFile(stateDir), `${canonicalJson(signed)}\n`, { durable: true });
  }
}

export interface StoreMarkOptions {
  readonly stateDir: string;
  readonly signer: Signer;
  readonly verifier: () => Promise<Verifier | undefined>;
  /** Called when the database is found to be behind what was signed. */
  readonly onStepBack: () => void;
  /** Called when the count cannot be written, and when it can be written again. */
  readonly onTrouble: (error: unknown) => void;
  readonly onWritten: () => void;
}

/** True if a database is not, or no longer, the one that was signed. */
export function isBehind(database: StoreMarkValue | undefined, signed: StoreMarkValue | "forged"): boolean {
  return (
    signed === "forged" ||
    database === undefined ||
    database.store !== signed.store ||
    database.commits < signed.commits
  );
}
