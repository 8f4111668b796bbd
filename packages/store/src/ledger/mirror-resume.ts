import type { FileHandle } from "node:fs/promises";
import { hasCode } from "@gennai/machine/system-error";
import { type IsOurs, isOfOthers } from "./file/chain-of-others.ts";
import { openLedgerFile } from "./file/ledger-file.ts";
import { ledgerFileNameIn, ownLedgerFileName, usualLedgerFileName } from "./file/ledger-file-name.ts";
import { readExactly } from "./file/ledger-mirror-file.ts";
import type { LedgerRow, LedgerTable } from "./ledger-table.ts";

/** Where to continue an incomplete file. */
export interface MirrorResume {
  /** The missing part of a half-written row. */
  readonly rest: Uint8Array;
  /** Seq of the last existing row, including `rest`; -1 if even the preamble is missing. */
  readonly afterSeq: number;
}

/** The rows that a file is to equal. */
export interface MirroredRows {
  readonly table: LedgerTable;
  readonly workspace: number;
  readonly newest: LedgerRow;
}

/**
 * What must be appended to a ledger's file to make it equal to the rows: the rest of a half-written row, then all rows after
 * `afterSeq`. Undefined if the end of the file differs from the rows.
 */
export async function mirrorResume(handle: FileHandle, rows: MirroredRows): Promise<MirrorResume | undefined> {
  const { table, workspace, newest } = rows;
  const { size } = await handle.stat();
  if (size === 0) return { rest: new Uint8Array(), afterSeq: -1 };
  if (size > newest.endOffset) return undefined;
  const row = rowReaching(size, rows);
  if (row === undefined) return undefined;
  // The complete line before a half-written one must match too.
  const before = row.seq > 0 && size < row.endOffset ? table.row(workspace, row.seq - 1) : undefined;
  for (const part of before === undefined ? [row] : [before, row]) {
    const start = part.endOffset - part.bytes.length;
    const length = Math.min(size, part.endOffset) - start;
    const wanted = Buffer.from(part.bytes.buffer, part.bytes.byteOffset, length);
    if (!wanted.equals(await readExactly(handle, start, length))) return undefined;
  }
  return { rest: row.bytes.subarray(row.bytes.length - (row.endOffset - size)), afterSeq: row.seq };
}

/** The first row that ends at or after a size. */
function rowReaching(size: number, { table, workspace, newest }: MirroredRows): LedgerRow | undefined {
  let low = 0;
  let high = newest.seq;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = table.row(workspace, middle);
    if (row === undefined) return undefined;
    if (row.endOffset >= size) high = middle;
    else low = middle + 1;
  }
  return table.row(workspace, low);
}

interface MirrorFileName {
  /** In the ledger's directory. */
  readonly name: string;
  /** True if the file does not exist yet, and the usual file belongs to another state directory. */
  readonly isMoved: boolean;
}

/**
 * The file to write a ledger to: the usual one, or one of its own beside it if the usual one belongs to another state directory.
 * Creates nothing. Rejects with `UnsafeLedgerPath` or the file system's error.
 */
export async function mirrorFileName(
  root: string,
  rows: MirroredRows & { readonly rebuild: boolean; readonly isOurs: IsOurs },
): Promise<MirrorFileName> {
  const firstHash = rows.table.row(rows.workspace, 1)?.hash ?? "";
  const name = ledgerFileNameIn(root, firstHash);
  if (name !== usualLedgerFileName) return { name, isMoved: false };
  let handle: FileHandle;
  try {
    handle = await openLedgerFile(root, "read", name);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { name, isMoved: false };
    throw error;
  }
  try {
    const goesOn = !rows.rebuild && (await mirrorResume(handle, rows)) !== undefined;
    if (goesOn || !(await isOfOthers(handle, rows.isOurs))) return { name, isMoved: false };
  } finally {
    await handle.close();
  }
  return { name: ownLedgerFileName(firstHash), isMoved: true };
}
