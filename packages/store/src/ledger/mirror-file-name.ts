import type { FileHandle } from "node:fs/promises";
import { hasCode } from "@gennai/machine/system-error";
import { type IsOurs, isOfOthers } from "./file/chain-of-others.ts";
import { openLedgerFile } from "./file/ledger-file.ts";
import { ledgerFileNameIn, ownLedgerFileName, usualLedgerFileName } from "./file/ledger-file-name.ts";
import { type MirroredRows, mirrorResume } from "./mirror-resume.ts";

export interface MirrorFileName {
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
