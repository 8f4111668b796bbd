import { existsSync, mkdirSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { fileLines } from "@gennai/governance/ledger/ledger-line";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { type Signer, signHead } from "@gennai/governance/ledger/ledger-signature";
import { decodeLine, readLedgerLine } from "@gennai/governance/ledger/read-ledger-line";
import { isClientPlace } from "@gennai/machine/workspace/paths/client-place";
import { errorMessage } from "@gennai/protocol/error-message";
import pLimit from "p-limit";
import type { StoreDatabase } from "../database/database.ts";
import { acquireFileLock } from "../database/file-lock.ts";
import { isPurging } from "../database/purge-job-table.ts";
import type { EvidenceWatch } from "./evidence-watch.ts";
import type { IsOurs } from "./file/chain-of-others.ts";
import { lastRecordBeyond } from "./file/file-beyond-store.ts";
import { openLedgerFile } from "./file/ledger-file.ts";
import { hashAt, ledgerFileNameIn, usualLedgerFileName, usualLedgerPath } from "./file/ledger-file-name.ts";
import { chunksOf, keepCopy, recoveredCopyPath, writeExactly } from "./file/ledger-mirror-file.ts";
import { MirrorWarnings } from "./file/mirror-warnings.ts";
import { removeSupersededCopies } from "./file/superseded-copies.ts";
import { ledgerHeadFile, readHead, writeHead } from "./ledger-head-file.ts";
import { isSignedHere } from "./ledger-key.ts";
import type { LedgerRow, LedgerTable } from "./ledger-table.ts";
import { type MirroredRows, mirrorFileName, mirrorResume } from "./mirror-resume.ts";
import { fileStep, isBornOut, ownVerifier } from "./step-back.ts";

/** Milliseconds for which records are collected. */
const coalescing = 50;
const lockTimeout = 10_000;

export interface LedgerMirrorOptions {
  readonly stateDir: string;
  readonly signer: Signer;
  readonly watch: Pick<EvidenceWatch, "assertForward" | "report" | "stepBacks">;
  /** True if other replicas write the same rows into the same file, and may be ahead. */
  readonly shared?: boolean;
  /** Called once per workspace and kind of trouble, until it is over; the store's ledger is not affected. */
  readonly onWarning: (text: string) => void;
}

/**
 * Keeps `.orchestration/agent_trace.jsonl` of each workspace equal to its rows in the store, byte for byte: appends what
 * is new, completes what a crash tore, rebuilds what was lost or changed (a changed file is kept in the state
 * directory); a file that is another state directory's ledger is left to it. Works aside from the turn; several processes take turns by a lock that dies with its holder.
 */
export class LedgerMirror {
  readonly #database: StoreDatabase;
  readonly #table: LedgerTable;
  readonly #options: LedgerMirrorOptions;
  readonly #dirty = new Set<string>();
  readonly #warnings: MirrorWarnings;
  #timer: NodeJS.Timeout | undefined;
  readonly #inOrder = pLimit(1);
  #cleaning = Promise.resolve();
  #isCleaning = true;

  constructor(database: StoreDatabase, table: LedgerTable, options: LedgerMirrorOptions) {
    this.#database = database;
    this.#table = table;
    this.#options = options;
    this.#warnings = new MirrorWarnings(options.onWarning);
  }

  /** Call it when the ledger of this workspace may have grown: it is mirrored soon. */
  touch(workspaceRoot: string): void {
    this.#dirty.add(workspaceRoot);
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), coalescing);
    // The next process mirrors what this one does not.
    this.#timer.unref();
  }

  /**
   * Mirrors soon what earlier processes left behind: they may have ended between a commit and its mirroring. Also removes copies
   * that other copies contain completely, while new records are mirrored. Trouble with one workspace leads to a warning, and does
   * not affect the others.
   */
  catchUp(): void {
    const { stateDir } = this.#options;
    const looking = this.#inOrder(async () => {
      const ledgers = this.#table.newestOfAll().filter(({ root }) => isClientPlace(root) || existsSync(root));
      for (const { root, seq } of ledgers) {
        await this.#warnings.of(root, "could not be compared with its signed head", async () => {
          const head = await readHead(ledgerHeadFile(stateDir, root));
          if ((head?.seq ?? 0) < seq) this.touch(root);
        });
      }
      return ledgers.map(({ root }) => root);
    });
    this.#cleaning = looking
      .then((roots) => this.#clean(roots))
      // The next caller that records finds that the store cannot be read, and reports it.
      .catch(() => undefined);
  }

  /** Stops after the present workspace. */
  stopCleaning(): void {
    this.#isCleaning = false;
  }

  /** Like `flush`, and stops examining copies as well. Never rejects. */
  async settle(): Promise<void> {
    await this.flush();
    await this.#cleaning;
  }

  /** Resolves when everything touched so far is in its file, or a failure was reported. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#inOrder(async () => {
      const roots = [...this.#dirty];
      this.#dirty.clear();
      await Promise.all(roots.map((root) => this.#flushWorkspace(root)));
    });
  }

  /** Rewrites the whole file from the store. Resolves to the path of the copy that was kept; rejects if it fails. */
  async rebuild(workspaceRoot: string): Promise<string | undefined> {
    const workspace = this.#table.find(workspaceRoot);
    if (workspace === undefined) return undefined;
    return this.#mirror(workspaceRoot, workspace, { rebuild: true });
  }

  /** Runs `work` while nobody else reads or writes this workspace's ledger file. Rejects with `StoreError` `busy`. */
  async alone<Value>(workspaceRoot: string, work: () => Promise<Value>): Promise<Value> {
    using _lock = await this.#lock(workspaceRoot);
    return await work();
  }

  /**
   * Within `alone`: rewrites the whole file from the store, without a copy of the old file. If the usual file belongs to another
   * state directory, our records are erased from it too.
   */
  async replace(workspaceRoot: string): Promise<void> {
    const workspace = this.#table.find(workspaceRoot);
    if (workspace === undefined) return;
    await this.#mirrorLocked(workspaceRoot, workspace, { rebuild: true, keep: false });
    if (isClientPlace(workspaceRoot) || !existsSync(usualLedgerPath(workspaceRoot))) return;
    if (ledgerFileNameIn(workspaceRoot, hashAt(this.#database, workspace, 1)) === usualLedgerFileName) return;
    await using usual = await openLedgerFile(workspaceRoot, "write");
    await eraseRecords(usual, this.#isOurs(workspace));
  }

  async #clean(roots: readonly string[]): Promise<void> {
    for (const root of roots) {
      if (!this.#isCleaning) return;
      await this.#warnings.of(root, "has copies that could not be looked through", () =>
        this.alone(root, () => removeSupersededCopies(this.#options.stateDir, root)),
      );
    }
  }

  #lock(root: string): Promise<Disposable> {
    const headFile = ledgerHeadFile(this.#options.stateDir, root);
    mkdirSync(dirname(headFile), { recursive: true, mode: 0o700 });
    return acquireFileLock(`${headFile.slice(0, -".json".length)}.lock`, { timeout: lockTimeout });
  }

  async #flushWorkspace(root: string): Promise<void> {
    try {
      const workspace = this.#table.find(root);
      if (workspace === undefined || this.#table.newest(workspace) === undefined) return;
      await this.#mirror(root, workspace, { rebuild: false });
      this.#warnings.over(root);
    } catch (error) {
      const text = errorMessage(error);
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      this.#warnings.once(
        root,
        code,
        `The ledger of ${root} is kept in the store only, its file cannot be written: ${text}`,
      );
    }
  }

  async #mirror(
    root: string,
    workspace: number,
    { rebuild }: { readonly rebuild: boolean },
  ): Promise<string | undefined> {
    using _lock = await this.#lock(root);
    // The file still contains what was purged: the end of the purge rewrites it, without keeping a copy.
    if (isPurging(this.#database, workspace)) return undefined;
    return await this.#mirrorLocked(root, workspace, { rebuild, keep: true });
  }

  async #mirrorLocked(
    root: string,
    workspace: number,
    { rebuild, keep }: { readonly rebuild: boolean; readonly keep: boolean },
  ): Promise<string | undefined> {
    const { stateDir, shared = false, watch } = this.#options;
    // If the store went back, files and heads are the evidence.
    if (rebuild) watch.assertForward();
    else if (watch.stepBacks.length > 0) return undefined;
    const headFile = ledgerHeadFile(stateDir, root);
    // If a client holds the files, no file is written here: the store's rows and the signed head are the ledger.
    const hasFile = !isClientPlace(root);
    // Read under the lock, so that records appended meanwhile by other processes count.
    const newest = this.#table.newest(workspace);
    if (newest === undefined) return undefined;
    // Neither file nor head may ever be ahead of the store, even after a power cut.
    await this.#database.sync();
    if (!(await this.#isForward(headFile, root, { number: workspace, newest }))) return undefined;
    if (!hasFile) {
      await this.#signHead(headFile, root, newest);
      return undefined;
    }
    let copy: string | undefined;
    const { handle, isMoved } = await this.#openFile(root, { workspace, newest, rebuild });
    try {
      const { size } = await handle.stat();
      // Content beyond our rows is compared as soon as we have these rows.
      if (!rebuild && shared && size > newest.endOffset) return copy;
      const place = rebuild ? undefined : await mirrorResume(handle, { table: this.#table, workspace, newest });
      if (place === undefined) {
        const from = rebuild || shared ? undefined : await this.#recordBeyond(handle, root, workspace);
        if (from !== undefined) {
          watch.report(fileStep({ workspaceRoot: root, workspaceId: workspaceIdOf(root), from, to: newest.seq }));
          return undefined;
        }
        if (keep) {
          copy = recoveredCopyPath(stateDir, root);
          await keepCopy(handle, copy);
        }
        if (!rebuild) {
          const text = `The ledger's file in ${root} was changed by somebody else. It was written anew from the store; the changed file is kept as ${copy}.`;
          this.#warnings.once(root, "changed", text);
        }
        await handle.truncate(0);
        await this.#write(handle, 0, new Uint8Array(), -1, workspace);
      } else {
        if (size === 0 && !isMoved && ((await readHead(headFile))?.seq ?? 0) > 0) {
          this.#warnings.once(
            root,
            "lost",
            `The ledger's file in ${root} was gone. It was written anew from the store.`,
          );
        }
        await this.#write(handle, size, place.rest, place.afterSeq, workspace);
      }
    } finally {
      await handle.close();
    }
    await this.#signHead(headFile, root, newest);
    return copy;
  }

  async #openFile(
    root: string,
    rows: Omit<MirroredRows, "table"> & { readonly rebuild: boolean },
  ): Promise<{ readonly handle: FileHandle; readonly isMoved: boolean }> {
    const isOurs = this.#isOurs(rows.workspace);
    const { name, isMoved } = await mirrorFileName(root, { ...rows, table: this.#table, isOurs });
    const handle = await openLedgerFile(root, "write", name);
    if (isMoved) {
      const text = `${usualLedgerPath(root)} is the ledger of another state directory and stays as it is. That of ${this.#options.stateDir} goes to ${name} beside it.`;
      this.#warnings.once(root, "others", text);
    }
    return { handle, isMoved };
  }

  /** Judged by the store and the public keys, which cannot be written by someone who can only write the workspace. */
  #isOurs(workspace: number): IsOurs {
    const isSigned = isSignedHere(this.#options.stateDir);
    return (record) => isSigned(record) || hashAt(this.#database, workspace, record.seq) === record.hash;
  }

  /** False, after a report, if the head that was signed before names records that the store lacks. */
  async #isForward(
    headFile: string,
    root: string,
    { number, newest }: { readonly number: number; readonly newest: LedgerRow },
  ): Promise<boolean> {
    const head = await readHead(headFile);
    if (head === undefined || isBornOut(head, { number, database: this.#database })) return true;
    // A rebuilt copy, or a replica behind the one that wrote the head, may lack these records for now.
    if (this.#options.shared !== true) {
      const message = `The ledger of ${root} had reached record ${head.seq}, which was signed. The store ends at ${newest.seq} and does not have it.`;
      this.#options.watch.report({
        workspaceRoot: root,
        workspaceId: workspaceIdOf(root),
        from: head.seq,
        to: newest.seq,
        head,
        message,
      });
    }
    return false;
  }

  /** See `lastRecordBeyond`. */
  async #recordBeyond(handle: FileHandle, root: string, number: number): Promise<number | undefined> {
    const verifier = await ownVerifier(this.#options.stateDir);
    if (verifier === undefined) return undefined;
    return lastRecordBeyond(handle, {
      workspaceId: workspaceIdOf(root),
      number,
      database: this.#database,
      verifier,
    });
  }

  async #signHead(file: string, root: string, { seq, hash }: LedgerRow): Promise<void> {
    this.#table.useCurrentKey();
    await writeHead(file, signHead({ workspace: workspaceIdOf(root), seq, hash }, this.#options.signer));
  }

  /** Writes `rest` and the rows after `afterSeq` (-1: also the preamble) at `offset`. */
  async #write(
    handle: FileHandle,
    offset: number,
    rest: Uint8Array,
    afterSeq: number,
    workspace: number,
  ): Promise<void> {
    let at = offset + (await writeExactly(handle, rest, offset));
    if (afterSeq === -1) at += await writeExactly(handle, this.#table.preamble(workspace), at);
    for (const page of this.#table.bytesAfter(workspace, Math.max(afterSeq, 0))) {
      at += await writeExactly(handle, page, at);
    }
  }
}

/**
 * Overwrites each line that holds one of our records with spaces. No other byte moves or changes, so that it can be repeated
 * after a crash, and another state directory's ledger in the same file loses nothing.
 */
async function eraseRecords(handle: FileHandle, isOurs: IsOurs): Promise<void> {
  for await (const line of fileLines(chunksOf(handle))) {
    const decoded = line.tooLong ? undefined : decodeLine(line);
    const read = decoded && readLedgerLine(decoded.text);
    if (read?.type !== "record" || !isOurs(read.record)) continue;
    await writeExactly(handle, Buffer.alloc(line.bytes.length, " "), line.offset);
  }
  await handle.sync();
}
