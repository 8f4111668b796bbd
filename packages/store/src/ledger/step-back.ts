import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { isHeadGenuine, type SignedHead, type Verifier } from "@gennai/governance/ledger/ledger-signature";
import { ifMissing } from "@gennai/machine/system-error";
import { isClientPlace } from "@gennai/machine/workspace/paths/client-place";
import { integerOf, textOf } from "../database/row.ts";
import { databaseMark, isBehind, readStoreMark, storeMarkFile } from "../database/store-mark.ts";
import { lastRecordBeyond } from "./file/file-beyond-store.ts";
import { openLedgerFile } from "./file/ledger-file.ts";
import { hashAt, type LedgerReader, ledgerFileNameIn } from "./file/ledger-file-name.ts";
import { headDirectory, ledgerHeadFile, readHead } from "./ledger-head-file.ts";
import { ledgerPublicKeyFile, ledgerVerifier } from "./ledger-key.ts";

/** Evidence outside of the database that the database contradicts: an older database was restored, or its log was damaged. */
export interface StepBack {
  /** Workspace of the ledger; undefined for the whole store, or a workspace whose path is unknown. */
  readonly workspaceRoot: string | undefined;
  /** SHA-256 of the workspace's path; empty for the whole store. */
  readonly workspaceId: string;
  /** Newest seq (for the whole store: transaction) of the evidence, and of the store. */
  readonly from: number;
  readonly to: number;
  /** The signed head of the evidence; undefined if it is missing or not genuine. */
  readonly head: SignedHead | undefined;
  /** One sentence for people. */
  readonly message: string;
}

/**
 * Compares the store with everything signed or written outside of it: the store's mark, the heads, the ledgers' files. No finding
 * is no proof: if all of these were reset together, only a head kept elsewhere shows it.
 *
 * @param database undefined if there is none
 * @param options.shared the database is a copy of a log in NATS: its heads count, its transactions do not
 */
export async function findStepBacks(
  stateDir: string,
  database: LedgerReader | undefined,
  options: { readonly shared?: boolean } = {},
): Promise<readonly StepBack[]> {
  const verifier = await ownVerifier(stateDir);
  const marked = database !== undefined && databaseMark(database) !== undefined;
  const found: StepBack[] = options.shared === true ? [] : await markStepBack(stateDir, database, verifier);
  // Read before the rows, because what a head names was in the database by then.
  const heads = await readHeads(stateDir);
  const ledgers = database === undefined ? new Map<string, StoredLedger>() : ledgersOf(database);
  if (database !== undefined) {
    for (const [workspaceId, ledger] of ledgers) {
      const head = heads.get(workspaceId) ?? (await readHead(ledgerHeadFile(stateDir, ledger.root)));
      const step =
        (await headStepBack(workspaceId, head, { ...ledger, database, verifier, marked })) ??
        (options.shared === true ? undefined : await fileStepBack(workspaceId, ledger, database, verifier));
      if (step !== undefined) found.push(step);
    }
  }
  for (const [workspaceId, head] of heads) {
    if (ledgers.has(workspaceId) || (head.seq === 0 && head.workspace !== "")) continue;
    const message = `The ledger of a workspace (${workspaceId.slice(0, 16)}) had reached record ${head.seq}, and the store knows nothing of it.`;
    found.push({ workspaceRoot: undefined, workspaceId, from: head.seq, to: 0, head, message });
  }
  return found;
}

interface StoredLedger {
  readonly root: string;
  readonly number: number;
  readonly lastSeq: number;
  readonly endOffset: number;
}

/** Ledgers that have records, by the SHA-256 of the workspace's path. */
function ledgersOf(database: LedgerReader): ReadonlyMap<string, StoredLedger> {
  const rows = database
    .prepare(
      `SELECT root, number, seq, end_offset FROM ledger JOIN workspaces ON number = workspace
       WHERE seq = (SELECT max(seq) FROM ledger newest WHERE newest.workspace = number)`,
    )
    .all();
  return new Map(
    rows.map((row) => {
      const root = textOf(row, "root");
      const ledger = {
        root,
        number: integerOf(row, "number"),
        lastSeq: integerOf(row, "seq"),
        endOffset: integerOf(row, "end_offset"),
      };
      return [workspaceIdOf(root), ledger];
    }),
  );
}

async function markStepBack(
  stateDir: string,
  database: LedgerReader | undefined,
  verifier: Verifier | undefined,
): Promise<StepBack[]> {
  const signed = await readStoreMark(storeMarkFile(stateDir), verifier);
  const mark = database && databaseMark(database);
  const whole = { workspaceRoot: undefined, workspaceId: "", head: undefined, to: mark?.commits ?? 0 };
  if (signed === undefined) {
    if (mark === undefined) return [];
    const message = `The signed count of the store's transactions (${storeMarkFile(stateDir)}) is gone.`;
    return [{ ...whole, from: whole.to, message }];
  }
  if (!isBehind(mark, signed)) return [];
  if (signed === "forged") {
    return [{ ...whole, from: whole.to, message: `The mark ${storeMarkFile(stateDir)} is not genuine.` }];
  }
  const message =
    mark?.store === signed.store
      ? `The store had come to transaction ${signed.commits} and is at ${mark.commits}: sessions or records are missing.`
      : `The database is not the one that was signed, which had come to transaction ${signed.commits}.`;
  return [{ ...whole, from: signed.commits, message }];
}

async function headStepBack(
  workspaceId: string,
  head: SignedHead | undefined,
  context: StoredLedger & {
    readonly database: LedgerReader;
    readonly verifier: Verifier | undefined;
    /** False for a ledger from before each had a head from its first record on. */
    readonly marked: boolean;
  },
): Promise<StepBack | undefined> {
  const { root, lastSeq: to, verifier } = context;
  const place = { workspaceRoot: root, workspaceId, to };
  if (head === undefined) {
    if (!context.marked) return undefined;
    const message = `The signed head of the ledger of ${root} is gone; the store is at record ${to}.`;
    return { ...place, from: to, head: undefined, message };
  }
  const known = verifier?.knows(head.key_id) === true;
  if (head.workspace !== workspaceId || (known && verifier !== undefined && !(await isHeadGenuine(head, verifier)))) {
    return { ...place, from: to, head: undefined, message: `The signed head of the ledger of ${root} is not genuine.` };
  }
  if (isBornOut(head, context)) return undefined;
  const message =
    head.seq > to
      ? `The ledger of ${root} had reached record ${head.seq}, and the store ends at ${to}.`
      : `Record ${head.seq} of the store is not the one that was signed as the head of the ledger of ${root}.`;
  return { ...place, from: head.seq, head, message };
}

/** Whether the store has the record that a head names. */
export function isBornOut(
  head: SignedHead,
  ledger: { readonly number: number; readonly database: LedgerReader },
): boolean {
  if (head.seq === 0) return true;
  return hashAt(ledger.database, ledger.number, head.seq) === head.hash;
}

/** Checks for records that we signed and that continue those of the store, in a file longer than the store. */
async function fileStepBack(
  workspaceId: string,
  { root, number, lastSeq: to, endOffset }: StoredLedger,
  database: LedgerReader,
  verifier: Verifier | undefined,
): Promise<StepBack | undefined> {
  if (isClientPlace(root) || !existsSync(root) || verifier === undefined) return undefined;
  // Other faults of the file are reported by whoever writes it.
  const name = ledgerFileNameIn(root, hashAt(database, number, 1));
  const handle = await openLedgerFile(root, "read", name).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if ((await handle.stat()).size <= endOffset) return undefined;
    const from = await lastRecordBeyond(handle, { workspaceId, number, database, verifier });
    return from === undefined ? undefined : fileStep({ workspaceRoot: root, workspaceId, from, to });
  } finally {
    await handle.close();
  }
}

export function fileStep(place: Omit<StepBack, "head" | "message">): StepBack {
  const message = `The ledger's file of ${place.workspaceRoot} has records up to ${place.from} that we signed. The store ends at ${place.to} and does not have them.`;
  return { ...place, head: undefined, message };
}

/** Heads by the SHA-256 of the workspace's path. */
async function readHeads(stateDir: string): Promise<ReadonlyMap<string, SignedHead>> {
  const directory = headDirectory(stateDir);
  const names = await readdir(directory).catch(ifMissing([]));
  const heads = new Map<string, SignedHead>();
  for (const name of names) {
    if (!/^[0-9a-f]{64}\.json$/.test(name)) continue;
    const head = await readHead(join(directory, name));
    if (head !== undefined) heads.set(name.slice(0, -".json".length), head);
  }
  return heads;
}

/** A verifier for all keys that ever signed here; undefined if there is none yet. */
export async function ownVerifier(stateDir: string): Promise<Verifier | undefined> {
  const pem = await readFile(ledgerPublicKeyFile(stateDir), "utf8").catch(ifMissing(undefined));
  return pem === undefined ? undefined : ledgerVerifier(pem);
}
