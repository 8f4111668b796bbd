import { mkdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { outsideTurns } from "@gennai/governance/ledger/ledger-entry";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { syncDirectory } from "@gennai/machine/workspace/files/sync-directory";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { acquireFileLock } from "../database/file-lock.ts";
import { refuseLogCopy } from "../database/log-copy-guard.ts";
import { textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";
import {
  createKey,
  ledgerKeyFile,
  ledgerPublicKeyFile,
  nextLedgerKeyFile,
  publishBefore,
  readKey,
} from "../ledger/ledger-key.ts";
import { openLedgers } from "../ledger/open-ledgers.ts";

export interface KeyRotation {
  /** Ids of the keys. */
  readonly from: string;
  readonly to: string;
  /** Workspaces whose ledgers were handed over. */
  readonly workspaceRoots: readonly string[];
  /** Ledgers that could not be mirrored; the next server that works there mirrors them. */
  readonly warnings: readonly string[];
}

/**
 * Makes a new signing key and hands every ledger of the state directory over to it: each gets a record signed by the old key that
 * holds the new public key, with its own signature. One transaction contains all records and the switch to the new key, and every
 * process that appends later sees it, so that servers need not be stopped. A crash before the transaction leaves the old key in
 * force; a crash after it leaves the new one, which the next rotation puts into place. The old private key is then deleted; its
 * public key stays, for old records. Rejects with `StoreError`.
 */
export async function rotateLedgerKey(request: {
  readonly stateDir: string;
  readonly toolVersion?: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}): Promise<KeyRotation> {
  const { toolVersion, now } = request;
  const stateDir = await prepareStateDirectory(request.stateDir);
  // First, because a state directory of a newer Gennai must stay as it is.
  using database = await StoreDatabase.open(databaseFile(stateDir));
  mkdirSync(join(stateDir, "keys"), { recursive: true, mode: 0o700 });
  using _lock = await acquireFileLock(join(stateDir, "keys", "rotation.lock"), { timeout: 10_000 });
  refuseLogCopy(database);
  await settleKeyFiles(stateDir, database);

  const warnings: string[] = [];
  await using ledgers = await openLedgers(database, {
    stateDir,
    toolVersion,
    onWarning: (text) => warnings.push(text),
  });
  const { signer, table, mirror, watch } = ledgers;
  watch.assertForward();
  const from = signer.keyId;
  const nextFile = nextLedgerKeyFile(stateDir);
  await createKey(nextFile, { replace: true });
  const next = readKey(nextFile);
  if (next === undefined) throw new StoreError("unsafe_key", `The new key ${nextFile} vanished while it was made.`);
  // Before the key signs anything, so that whoever finds its signatures finds it too.
  await publishBefore(ledgerPublicKeyFile(stateDir), next.publicPem);

  const entry = {
    time: now(),
    ...outsideTurns,
    details: { from, to: next.keyId },
  };
  const workspaceRoots = database.transaction({ durable: true }, () => table.handOver(entry, next));
  await settleKeyFiles(stateDir, database);
  for (const root of workspaceRoots) mirror.touch(root);
  await mirror.flush();
  return { from, to: next.keyId, workspaceRoots, warnings };
}

/**
 * Puts a key to which the ledgers were handed over into place, and removes one to which they were not. The caller holds the lock.
 */
async function settleKeyFiles(stateDir: string, database: StoreDatabase): Promise<void> {
  const row = database.prepare("SELECT key_id FROM ledger_keys ORDER BY number DESC LIMIT 1").get();
  const nextFile = nextLedgerKeyFile(stateDir);
  const next = readKey(nextFile);
  if (next === undefined) return;
  const file = ledgerKeyFile(stateDir);
  if (row !== undefined && textOf(row, "key_id") === next.keyId) await rename(nextFile, file);
  else await rm(nextFile);
  await syncDirectory(dirname(file));
}
