import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { acquireFileLock } from "../database/file-lock.ts";
import { refuseLogCopy } from "../database/log-copy-guard.ts";
import { StoreMark } from "../database/store-mark.ts";
import { EvidenceWatch } from "./evidence-watch.ts";
import { headDirectory } from "./ledger-head-file.ts";
import { type LedgerSigner, openLedgerSigner } from "./ledger-key.ts";
import { LedgerMirror } from "./ledger-mirror.ts";
import { LedgerTable } from "./ledger-table.ts";
import { ownVerifier } from "./step-back.ts";

/** The ledgers of a store: their table, their files, and the watch that keeps them from going backwards. */
export interface Ledgers extends AsyncDisposable {
  readonly signer: LedgerSigner;
  readonly table: LedgerTable;
  readonly mirror: LedgerMirror;
  readonly watch: EvidenceWatch;
  /** Resolves when files, heads and mark equal the store, and no work on them is under way. Never rejects. */
  flush(): Promise<void>;
  /** Continues from what the store holds now, after `watch.accept`. */
  beginAnew(): Promise<void>;
}

export interface LedgersOptions {
  /** Real path. */
  readonly stateDir: string;
  /** Version of Gennai, for the records. */
  readonly toolVersion?: string;
  readonly onWarning: (text: string) => void;
  /** True if the database is a copy of a log in NATS. The caller then calls `watch.look` once the copy is up to date. */
  readonly shared?: boolean;
}

/** A state directory's database with its ledgers. Disposing brings their files up to date, and closes it. */
export interface LedgerStore extends Ledgers {
  /** Real path. */
  readonly stateDir: string;
  readonly database: StoreDatabase;
}

/** Rejects with `StoreError`: for a copy of a log in NATS unless it is `shared`. */
export async function openLedgerStore(
  stateDir: string,
  options: Omit<LedgersOptions, "stateDir">,
): Promise<LedgerStore> {
  const directory = await prepareStateDirectory(stateDir);
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await StoreDatabase.open(databaseFile(directory)));
  if (options.shared !== true) refuseLogCopy(database);
  const ledgers = parts.use(await openLedgers(database, { ...options, stateDir: directory }));
  const opened = parts.move();
  return { ...ledgers, stateDir: directory, database, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Rejects with `StoreError`. Disposing brings the files up to date. The database stays its opener's to close. */
export async function openLedgers(database: StoreDatabase, options: LedgersOptions): Promise<Ledgers> {
  const { stateDir, toolVersion, onWarning, shared = false } = options;
  const signer = await openLedgerSigner(stateDir);
  const watch = new EvidenceWatch(database, {
    stateDir,
    shared,
    onWarning,
    onChange: (steppedBack) => {
      if (steppedBack) mark.stop();
      else mark.begin({ anew: false }).catch(markTrouble);
    },
  });
  let markTold = false;
  const markTrouble = (error: unknown): void => {
    if (!markTold) onWarning(`How far the store has come cannot be signed: ${String(error)}`);
    markTold = true;
  };
  const mark = new StoreMark(database, {
    stateDir,
    signer,
    verifier: () => ownVerifier(stateDir),
    onStepBack: () => {
      watch.look().catch(() => undefined);
    },
    onTrouble: markTrouble,
    onWritten: () => {
      markTold = false;
    },
  });
  const table: LedgerTable = new LedgerTable(database, {
    signer,
    stateDir,
    watch,
    onWarning,
    ...(toolVersion === undefined ? {} : { toolVersion }),
    onChange: (root) => mirror.touch(root),
  });
  const mirror = new LedgerMirror(database, table, { stateDir, signer, watch, onWarning, shared });
  if (!shared) {
    mkdirSync(headDirectory(stateDir), { recursive: true, mode: 0o700 });
    // If two processes opened a new store at once, one would see half of what the other begins.
    using _lock = await acquireFileLock(join(headDirectory(stateDir), "mark.lock"), { timeout: 10_000 });
    if ((await watch.look()).length === 0) await mark.begin({ anew: false }).catch(markTrouble);
  }
  const flush = async (): Promise<void> => {
    await Promise.all([mirror.settle(), mark.flush()]);
  };
  return {
    signer,
    table,
    mirror,
    watch,
    flush,
    beginAnew: () => mark.begin({ anew: true }),
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      mirror.stopCleaning();
      await flush();
    },
  };
}
