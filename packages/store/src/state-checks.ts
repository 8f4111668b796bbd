import { readdirSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { loadServerConfig } from "@gennai/machine/config/server-config";
import type { Check, Finding } from "@gennai/machine/finding";
import { errorMessage } from "@gennai/protocol/error-message";
import { verifyWorkspaceLedger, type WorkspaceLedgerReport } from "./audit/ledger-verify.ts";
import { databaseFile, StoreDatabase } from "./database/database.ts";
import { isLogCopy } from "./database/log-copy-guard.ts";
import { ledgerHeadFile, readHead } from "./ledger/ledger-head-file.ts";
import { ledgerKeyFile, nextLedgerKeyFile, readKey } from "./ledger/ledger-key.ts";
import { findStepBacks } from "./ledger/step-back.ts";
import { bytesOf, measureStorage, storageParts } from "./purge/storage-use.ts";

export interface StateDirectories {
  readonly stateDir: string;
  /** Real path. */
  readonly workspace: string;
  /** The user's configuration. */
  readonly configDir: string;
}

/** Checks that Gennai's state is complete and private. Changes nothing. */
export function stateChecks(place: StateDirectories): readonly Check[] {
  return [
    { name: "state directory", run: () => directoryFinding(place.stateDir) },
    { name: "keys", run: () => keysFinding(place.stateDir) },
    { name: "database", run: () => databaseFinding(place.stateDir) },
    { name: "storage", run: (signal) => storageFinding(place, signal) },
    { name: "ledger", run: () => ledgerFinding(place) },
    { name: "ledger head", run: () => headFinding(place) },
  ];
}

async function directoryFinding(stateDir: string): Promise<Finding> {
  const check = "state directory";
  const stat = await lstat(await realpath(stateDir).catch(() => stateDir)).catch(() => undefined);
  if (stat === undefined) {
    return { check, state: "ok", text: `${stateDir} is not there yet; the first server makes it` };
  }
  if (!stat.isDirectory()) {
    const next = ["Move it away, or choose another place with GENNAI_STATE_DIR."];
    return { check, state: "fail", text: `${stateDir} is not a directory.`, next };
  }
  const own = process.getuid?.();
  if (own !== undefined && stat.uid !== own) {
    const next = ["Choose a directory of your own with GENNAI_STATE_DIR."];
    return { check, state: "fail", text: `${stateDir} belongs to another user (uid ${stat.uid}).`, next };
  }
  if (own !== undefined && (stat.mode & 0o077) !== 0) {
    return {
      check,
      state: (stat.mode & 0o022) === 0 ? "warn" : "fail",
      text: `Others can ${(stat.mode & 0o022) === 0 ? "look into" : "write to"} ${stateDir}.`,
      next: [`chmod 700 ${stateDir}`],
    };
  }
  return { check, state: "ok", text: stateDir };
}

/** Checks the modes of all key files, and that the signing key is valid. */
async function keysFinding(stateDir: string): Promise<Finding | readonly Finding[]> {
  const directory = join(stateDir, "keys");
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch {
    return { check: "keys", state: "ok", text: "There are none yet; the first server makes them" };
  }
  const findings: Finding[] = [];
  for (const name of names) {
    const path = join(directory, name);
    const { mode } = await lstat(path);
    // Public keys may be readable by all.
    const open = name.endsWith(".pub") ? 0o022 : 0o077;
    if (process.getuid === undefined || (mode & open) === 0) continue;
    const text = `Others can reach ${path} (mode ${(mode & 0o777).toString(8)}).`;
    const next = [`chmod 600 ${path}`, "If anybody else may have read it: gennai ledger rotate-key"];
    findings.push({ check: "keys", state: "fail", text, next });
  }
  if (findings.length > 0) return findings;
  const key = readKey(ledgerKeyFile(stateDir));
  if (key === undefined) {
    const next = ["Restore it from your backup. A new one is made at the next start, and signs from then on."];
    return { check: "keys", state: "warn", text: "The key that signs the ledger is not there.", next };
  }
  if (readKey(nextLedgerKeyFile(stateDir)) !== undefined) {
    const next = ["Run gennai ledger rotate-key again: it finishes what it began."];
    return { check: "keys", state: "warn", text: "A key was being handed over and is not yet in force.", next };
  }
  return { check: "keys", state: "ok", text: `the ledger is signed by key ${key.keyId}` };
}

async function databaseFinding(stateDir: string): Promise<Finding> {
  const check = "database";
  const file = databaseFile(stateDir);
  const restore = [
    "Stop every server, move the file with its -wal and -shm away, and restore your backup.",
    "What can still be read: gennai sessions export, gennai ledger export.",
  ];
  try {
    using database = StoreDatabase.openReadOnly(file);
    if (database === undefined) return { check, state: "ok", text: "Nothing is stored yet" };
    const rows = database.prepare("PRAGMA quick_check(3)").all();
    const problems = rows.map((row) => String(row["quick_check"])).filter((text) => text !== "ok");
    if (problems.length > 0) {
      return { check, state: "fail", text: `${file} is damaged: ${problems.join("; ").slice(0, 300)}`, next: restore };
    }
    const [size] = database
      .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
      .all();
    const mebibytes = Math.ceil(Number(size?.["bytes"] ?? 0) / (1024 * 1024));
    return { check, state: "ok", text: `${file} is whole (${mebibytes} MiB)` };
  } catch (error) {
    // Restoring a backup loses what came after it: only where the file itself is no database any more.
    const next = isDamage(error)
      ? restore
      : ["Correct what it names, e.g. free some space, and run gennai doctor again."];
    return { check, state: "fail", text: `${file} cannot be read: ${errorMessage(error)}`, next };
  }
}

/** What the state directory takes, the largest part first. */
async function storageFinding({ stateDir, configDir }: StateDirectories, signal: AbortSignal): Promise<Finding> {
  const check = "storage";
  const { mostStorageBytes: mostBytes } = await loadServerConfig(configDir);
  const use = await measureStorage(stateDir, { now: Date.now(), signal });
  const parts = storageParts
    .map(({ part, what }) => ({ what, bytes: use.parts[part] }))
    .filter(({ bytes }) => bytes >= mebibyte)
    .toSorted((one, other) => other.bytes - one.bytes)
    .map(({ what, bytes }) => `${Math.ceil(bytes / mebibyte)} ${what}`);
  const text = `${[Math.ceil(bytesOf(use) / mebibyte), Math.ceil(mostBytes / mebibyte)].join(" of ")} MiB${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
  const next = ["Free what can be made again: gennai storage free.", "Forget old sessions: gennai ledger purge."];
  return bytesOf(use) > mostBytes ? { check, state: "warn", text, next } : { check, state: "ok", text };
}

const mebibyte = 1024 ** 2;

/** Compares the file in the workspace with signatures, chain, head and store. */
async function ledgerFinding({ stateDir, workspace }: StateDirectories): Promise<readonly Finding[]> {
  const report = await verifyWorkspaceLedger({ workspaceRoot: workspace, stateDir });
  const { ofOthers, compared, file } = report;
  if (ofOthers === undefined) return [ownFinding(report, workspace)];
  const text = `${ofOthers} is the ledger of another state directory and is left to it.`;
  const next = [
    "If one is enough: use the same GENNAI_STATE_DIR for every server of this workspace.",
    "If nobody uses the other one any more: keep its file elsewhere as evidence.",
  ];
  const others: Finding = { check: "ledger", state: "warn", text, next };
  // Gennai has not recorded anything yet.
  if (!compared.store && file === ofOthers) return [others];
  return [ownFinding(report, workspace), others];
}

function ownFinding(report: WorkspaceLedgerReport, workspace: string): Finding {
  const { status, message, records, compared, file, ofOthers } = report;
  const check = "ledger";
  // Before the first start there is neither a database nor a head of any record.
  const isNew = status === "missing_file" && !compared.store && !compared.head;
  if (isNew) return { check, state: "ok", text: nothingRecorded };
  if (status === "ok") return { check, state: "ok", text: records === 0 ? message : `${records} records, sound` };
  const next = [`gennai ledger verify --workspace ${workspace}`];
  // A file that is only shorter than the store is completed from it.
  const isShort = status === "behind_store" || status === "torn_last_line" || status === "missing_file";
  const mends = isShort || file === ofOthers;
  if (mends) next.push(`gennai ledger repair --workspace ${workspace}`);
  return { check, state: mends ? "warn" : "fail", text: `${status}: ${message}`, next };
}

const nothingRecorded = "Nothing has been recorded yet";

/** Compares what was signed with the database: a database from an older backup, or with a damaged log, has less. */
async function headFinding({ stateDir, workspace }: StateDirectories): Promise<Finding | readonly Finding[]> {
  const check = "ledger head";
  const head = await readHead(ledgerHeadFile(stateDir, workspace));
  using database = StoreDatabase.openReadOnly(databaseFile(stateDir));
  const shared = database !== undefined && isLogCopy(database);
  const found = await findStepBacks(stateDir, database, { shared });
  if (found.length > 0) {
    const next = [
      "Stop the server and put the newer database back. The ledger's file of the workspace may have the missing records: keep it.",
      "If it is lost for good: gennai ledger accept-rollback. The ledgers record the loss from then on.",
    ];
    return found.map(({ message }) => ({ check, state: "fail", text: message, next }));
  }
  if (head === undefined) return { check, state: "ok", text: nothingRecorded };
  return { check, state: "ok", text: `record ${head.seq} is signed, and in the store` };
}

/** https://sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB; extended codes have these in their low byte. */
function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  return [11, 26].includes(error.errcode & 0xff);
}
