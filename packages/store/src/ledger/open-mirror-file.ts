import type { FileHandle } from "node:fs/promises";
import { type IsOurs, isOfOthers } from "./chain-of-others.ts";
import { openLedgerFile } from "./ledger-file.ts";
import { ledgerFileNameIn, ownLedgerFileName, usualLedgerFileName } from "./ledger-file-name.ts";
import { type MirroredRows, mirrorPlace } from "./mirror-place.ts";

export interface OpenedMirror {
  /** To read and to write. Whoever opened it closes it. */
  readonly handle: FileHandle;
  /** In the ledger's directory. */
  readonly name: string;
  /** It was just made, beside a usual file that is another state directory's. */
  readonly isMoved: boolean;
}

/**
 * Opens the file to write a ledger to: the usual one, or one of its own beside it where that one is another state directory's.
 * Rejects with `UnsafeLedgerPath` or the file system's error.
 */
export async function openMirrorFile(
  root: string,
  rows: MirroredRows & { readonly rebuild: boolean; readonly isOurs: IsOurs },
): Promise<OpenedMirror> {
  const firstHash = rows.table.row(rows.workspace, 1)?.hash ?? "";
  const name = ledgerFileNameIn(root, firstHash);
  const handle = await openLedgerFile(root, "write", name);
  try {
    if (name !== usualLedgerFileName) return { handle, name, isMoved: false };
    const goesOn = !rows.rebuild && (await mirrorPlace(handle, rows)) !== undefined;
    if (goesOn || !(await isOfOthers(handle, rows.isOurs))) return { handle, name, isMoved: false };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  const own = ownLedgerFileName(firstHash);
  return { handle: await openLedgerFile(root, "write", own), name: own, isMoved: true };
}
