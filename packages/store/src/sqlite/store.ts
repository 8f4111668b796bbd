import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { refuseLogCopy } from "../database/log-copy-guard.ts";
import { openLedgers } from "../ledger/open-ledgers.ts";
import type { BlobStore, SessionLog } from "../log/session-log.ts";
import { LiveForgetting } from "../purge/live-forgetting.ts";
import { FileBlobStore } from "./file-blob-store.ts";
import { SqliteSessionLog } from "./sqlite-session-log.ts";

/** Everything Gennai remembers, in one state directory. Several processes may open the same one. */
export interface Store extends AsyncDisposable {
  /** Real path. */
  readonly stateDir: string;
  readonly log: SessionLog;
  readonly blobs: BlobStore;
  /** Resolves when the ledgers' files in the workspaces hold what the store holds. Never rejects. */
  flushLedgers(): Promise<void>;
  /** Throws `StoreError` `rolled_back` while the store is behind what was signed: it records nothing then. */
  assertForward(): void;
  /** False while `assertForward` throws. */
  readonly isForward: boolean;
}

export interface StoreOptions {
  /** Version of Gennai, for ledger records. */
  readonly toolVersion?: string;
  /** Trouble that stops nothing, e.g. a workspace that cannot be written. */
  readonly onWarning: (text: string) => void;
}

/** Opens or creates the store. Rejects with `StoreError`. Disposing ends all tails and brings the ledgers' files up to date. */
export async function openStore(stateDir: string, options: StoreOptions): Promise<Store> {
  const directory = await prepareStateDirectory(stateDir);
  const database = await StoreDatabase.open(databaseFile(directory));
  try {
    refuseLogCopy(database);
    const { toolVersion, onWarning } = options;
    const ledgers = await openLedgers(database, {
      stateDir: directory,
      toolVersion,
      onWarning,
    });
    const { table, mirror, watch } = ledgers;
    const blobDirectory = join(directory, "blobs");
    await mkdir(blobDirectory, { recursive: true, mode: 0o700 });
    const forgetting = new LiveForgetting({ database, table, mirror, watch, stateDir: directory, onWarning });
    await forgetting.finish();
    mirror.catchUp();
    const log = new SqliteSessionLog(database, table, forgetting);
    return {
      stateDir: directory,
      log,
      blobs: new FileBlobStore(blobDirectory),
      flushLedgers: () => ledgers.flush(),
      assertForward: () => watch.assertForward(),
      get isForward() {
        return watch.stepBacks.length === 0;
      },
      async [Symbol.asyncDispose]() {
        await log[Symbol.asyncDispose]();
        await forgetting[Symbol.asyncDispose]();
        await ledgers[Symbol.asyncDispose]();
        database[Symbol.dispose]();
      },
    };
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}
