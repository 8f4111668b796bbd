import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openLedgerStore } from "../ledger/open-ledgers.ts";
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
  await using parts = new AsyncDisposableStack();
  const ledgers = parts.use(await openLedgerStore(stateDir, options));
  const { table, mirror, watch } = ledgers;
  const blobDirectory = join(ledgers.stateDir, "blobs");
  await mkdir(blobDirectory, { recursive: true, mode: 0o700 });
  const forgetting = parts.use(new LiveForgetting({ ...ledgers, onWarning: options.onWarning }));
  await forgetting.finish();
  mirror.catchUp();
  const log = parts.use(new SqliteSessionLog(ledgers.database, table, forgetting));
  const opened = parts.move();
  return {
    stateDir: ledgers.stateDir,
    log,
    blobs: new FileBlobStore(blobDirectory),
    flushLedgers: () => ledgers.flush(),
    assertForward: () => watch.assertForward(),
    get isForward() {
      return watch.stepBacks.length === 0;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
