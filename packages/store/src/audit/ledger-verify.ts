import { existsSync } from "node:fs";
import { type FileHandle, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import type { Verifier } from "@gennai/governance/ledger/ledger-signature";
import type { ReadRecord } from "@gennai/governance/ledger/read-ledger-line";
import { type LedgerReport, type LedgerStatus, verifyLedger } from "@gennai/governance/ledger/verify-ledger";
import type { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { hasCode } from "@gennai/machine/system-error";
import { isClientPlace } from "@gennai/machine/workspace/paths/client-place";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { isLogCopy } from "../database/log-copy-guard.ts";
import { integerOf, textOf } from "../database/row.ts";
import { isOfOthers } from "../ledger/file/chain-of-others.ts";
import { openLedgerFile, UnsafeLedgerPath } from "../ledger/file/ledger-file.ts";
import {
  firstHashOf,
  ledgerFileNameIn,
  ownLedgerFileName,
  usualLedgerFileName,
  usualLedgerPath,
} from "../ledger/file/ledger-file-name.ts";
import { chunksOf } from "../ledger/file/ledger-mirror-file.ts";
import { ledgerHeadFile, readHead } from "../ledger/ledger-head-file.ts";
import { ledgerVerifier } from "../ledger/ledger-key.ts";
import { findStepBacks, ownVerifier } from "../ledger/step-back.ts";

export type WorkspaceLedgerStatus =
  | LedgerStatus
  /** Valid, but the store has newer records: a crash before they were written, or a cut end. */
  | "behind_store"
  /** The store is behind what was signed: an older one was put back, or it lost records. */
  | "rolled_back"
  /** Sound by itself and not what the store has. */
  | "differs_from_store"
  /** A link, directory or device in the ledger's place. */
  | "unsafe_path"
  /** There is no public key to check with. */
  | "no_key";

export interface WorkspaceLedgerReport extends Omit<LedgerReport, "status"> {
  readonly status: WorkspaceLedgerStatus;
  readonly file: string;
  /** The usual file, where it is the ledger of another state directory. */
  readonly ofOthers: string | undefined;
  /** What it was compared with besides the signatures. */
  readonly compared: { readonly head: boolean; readonly store: boolean };
}

export interface WorkspaceLedgerLocation {
  /** Real absolute path. */
  readonly workspaceRoot: string;
  /** Absent: signatures and chain alone are checked, as a third party can. */
  readonly stateDir?: string;
  /** SPKI PEM, one or more; absent: the state directory's own. */
  readonly publicKeyFile?: string;
}

/** How a file can look while a server is writing to it. */
const mayBeUnderWay: ReadonlySet<WorkspaceLedgerStatus> = new Set(["behind_store", "torn_last_line", "missing_file"]);

/** Milliseconds in which a server that is writing brings the file to where the store was, also on a busy machine. */
const settling = 1_000;
/** Milliseconds before each further look. */
const pause = 150;

/** Checks a workspace's ledger file; changes nothing. Rejects when a public key or the store cannot be read. */
export async function verifyWorkspaceLedger(location: WorkspaceLedgerLocation): Promise<WorkspaceLedgerReport> {
  const { workspaceRoot, stateDir } = location;
  using store = stateDir === undefined ? undefined : StoredLedger.open(stateDir, workspaceRoot);
  let report = await verifyOnce(location, store);
  const settled = performance.now() + settling;
  // A large ledger, which takes longer than that to read, is read once more only.
  while (store !== undefined && mayBeUnderWay.has(report.status)) {
    await delay(pause);
    report = await verifyOnce(location, store);
    if (performance.now() > settled) break;
  }
  const lost = stateDir === undefined ? undefined : await steppedBack(stateDir, workspaceRoot, store);
  if (lost === undefined) return report;
  const message = report.status === "ok" ? lost : `${lost} The file: ${report.message}`;
  return { ...report, status: "rolled_back", message };
}

/** What the store lost of this workspace, or of unknown sessions; undefined if no loss can be detected. */
async function steppedBack(
  stateDir: string,
  workspaceRoot: string,
  store: StoredLedger | undefined,
): Promise<string | undefined> {
  const mine = new Set(["", workspaceIdOf(workspaceRoot)]);
  const found = await findStepBacks(stateDir, store?.connection, { shared: store?.isLogCopy ?? false });
  const messages = found.filter(({ workspaceId }) => mine.has(workspaceId)).map(({ message }) => message);
  return messages.length === 0 ? undefined : messages.join(" ");
}

async function verifyOnce(
  location: WorkspaceLedgerLocation,
  store: StoredLedger | undefined,
): Promise<WorkspaceLedgerReport> {
  const { workspaceRoot, stateDir } = location;
  const firstHash = store && firstHashOf(store.connection, workspaceRoot);
  const name = ledgerFileNameIn(workspaceRoot, firstHash);
  const file = join(workspaceRoot, ledgerDirectory, name);
  const usual = usualLedgerPath(workspaceRoot);
  const ofOthers = file !== usual && existsSync(usual) ? usual : undefined;
  const head = stateDir === undefined ? undefined : await readHead(ledgerHeadFile(stateDir, workspaceRoot));
  const compared = { head: head !== undefined, store: store !== undefined && store.lastSeq > 0 };
  const unread = (status: WorkspaceLedgerStatus, message: string): WorkspaceLedgerReport => {
    const nothing = { records: 0, purged: 0, unsigned: 0, rollbacks: [], notes: [] };
    return { status, message, file, ofOthers, compared, ...nothing };
  };
  if (isClientPlace(workspaceRoot)) {
    const message = "A client holds this workspace: its ledger is in the server's store and has no file.";
    return unread("missing_file", message);
  }
  let handle: FileHandle;
  try {
    handle = await openLedgerFile(workspaceRoot, "read", name);
  } catch (error) {
    if (error instanceof UnsafeLedgerPath) return unread("unsafe_path", error.message);
    if (!hasCode(error, "ENOENT")) throw error;
    // Only the store can say that nothing was ever recorded.
    if (head === undefined && store?.lastSeq === 0) return unread("ok", "Nothing has been recorded yet.");
    return unread("missing_file", `${file} is missing${head === undefined ? "" : `; it had reached seq ${head.seq}`}.`);
  }
  try {
    const known = await verifierFor(location);
    const verifier = known ?? nobody;
    const checked = await verifyLedger(chunksOf(handle), {
      verifier,
      ...(head === undefined ? {} : { head }),
      // A third party has the workspace at another path.
      ...(stateDir === undefined ? {} : { workspace: workspaceIdOf(workspaceRoot) }),
    });
    // Where nothing is signed, no key is needed to say so.
    if (known === undefined && checked.status !== "unsigned") {
      const message = "There is no public key to check signatures with: name the signer's .pub file.";
      return unread("no_key", message);
    }
    const report = { ...checked, ...(store && comparedWithStore(checked, store)), file, ofOthers, compared };
    if (store === undefined || report.status === "ok" || name !== usualLedgerFileName) return report;
    const isKnown = ({ keyId, seq, hash }: ReadRecord) => verifier.knows(keyId) || store.hashOf(seq) === hash;
    if (!(await isOfOthers(handle, isKnown))) return report;
    const message = `${file} is the ledger of another state directory.`;
    const missing = firstHash && `This one's is to be in ${ownLedgerFileName(firstHash)} beside it, and is not there.`;
    return { ...report, ofOthers: file, message: `${message} ${missing ?? report.message}` };
  } finally {
    await handle.close();
  }
}

const nobody: Verifier = { knows: () => false, verify: () => false };

function comparedWithStore(
  report: LedgerReport,
  store: StoredLedger,
): { readonly status: WorkspaceLedgerStatus; readonly message: string } | undefined {
  // A store that never heard of this workspace says nothing about it.
  if (report.status !== "ok" || store.lastSeq === 0) return undefined;
  const lastSeq = report.last?.seq ?? 0;
  // The chain is sound, so one equal hash says that everything before it is equal, too.
  if (lastSeq > 0 && store.hashOf(lastSeq) !== report.last?.hash) {
    const message = `The file is sound up to seq ${lastSeq}, but these are not the records of the store.`;
    return { status: "differs_from_store", message };
  }
  if (lastSeq >= store.lastSeq) return undefined;
  const message = `The file is sound and ends at seq ${lastSeq}; the store is at seq ${store.lastSeq}. The rest is missing. Repair it from the store.`;
  return { status: "behind_store", message };
}

async function verifierFor(location: WorkspaceLedgerLocation): Promise<Verifier | undefined> {
  const { publicKeyFile, stateDir } = location;
  if (publicKeyFile !== undefined) return ledgerVerifier(await readFile(publicKeyFile, "utf8"));
  return stateDir === undefined ? undefined : ownVerifier(stateDir);
}

/** The rows of one workspace, read-only. */
class StoredLedger implements Disposable {
  /** When it was opened. */
  readonly lastSeq: number;
  readonly connection: SqliteConnection;
  readonly #workspaceRoot: string;

  /** undefined when there is no store. */
  static open(stateDir: string, workspaceRoot: string): StoredLedger | undefined {
    const connection = StoreDatabase.openReadOnly(databaseFile(stateDir));
    return connection && new StoredLedger(connection, workspaceRoot);
  }

  private constructor(connection: SqliteConnection, workspaceRoot: string) {
    this.connection = connection;
    this.#workspaceRoot = workspaceRoot;
    const row = connection
      .prepare("SELECT max(seq) AS seq FROM ledger JOIN workspaces ON number = workspace WHERE root = ?")
      .get(workspaceRoot);
    this.lastSeq = row === undefined || row["seq"] === null ? 0 : integerOf(row, "seq");
  }

  get isLogCopy(): boolean {
    return isLogCopy(this.connection);
  }

  hashOf(seq: number): string | undefined {
    const row = this.connection
      .prepare("SELECT hash FROM ledger JOIN workspaces ON number = workspace WHERE root = ? AND seq = ?")
      .get(this.#workspaceRoot, seq);
    return row && textOf(row, "hash");
  }

  [Symbol.dispose](): void {
    this.connection[Symbol.dispose]();
  }
}
