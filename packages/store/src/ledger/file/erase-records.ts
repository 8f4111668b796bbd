import type { FileHandle } from "node:fs/promises";
import { fileLines } from "@gennai/governance/ledger/ledger-line";
import { decodeLine, readLedgerLine } from "@gennai/governance/ledger/read-ledger-line";
import type { IsOurs } from "./chain-of-others.ts";
import { chunksOf, writeExactly } from "./ledger-mirror-file.ts";

/**
 * Overwrites each line that holds one of our records with spaces. No other byte moves or changes, so that it can be repeated
 * after a crash, and another state directory's ledger in the same file loses nothing.
 */
export async function eraseRecords(handle: FileHandle, isOurs: IsOurs): Promise<void> {
  for await (const line of fileLines(chunksOf(handle))) {
    const decoded = line.tooLong ? undefined : decodeLine(line);
    const read = decoded && readLedgerLine(decoded.text);
    if (read?.type !== "record" || !isOurs(read.record)) continue;
    await writeExactly(handle, Buffer.alloc(line.bytes.length, " "), line.offset);
  }
  await handle.sync();
}
