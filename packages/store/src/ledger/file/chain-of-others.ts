import type { FileHandle } from "node:fs/promises";
import { fileLines } from "@gennai/governance/ledger/ledger-line";
import { decodeLine, type ReadRecord, readLedgerLine } from "@gennai/governance/ledger/read-ledger-line";
import { chunksOf } from "./ledger-mirror-file.ts";

/** Whether a record may be this store's: signed by one of its keys, or contained in it. */
export type IsOurs = (record: ReadRecord) => boolean;

/**
 * Whether a ledger's file belongs to another state directory: it contains a chain from its beginning to its last record, and no
 * record of ours. Its signatures cannot be checked without the other's key, so such a chain can be forged; a file with any
 * record of ours is ours, whatever else it contains.
 */
export async function isOfOthers(handle: FileHandle, isOurs: IsOurs): Promise<boolean> {
  const chain = new ChainOfOthers(isOurs);
  for await (const line of fileLines(chunksOf(handle))) {
    const decoded = line.tooLong ? undefined : decodeLine(line);
    if (decoded !== undefined) chain.take(decoded.text);
  }
  return chain.reachesEnd;
}

/** Like `isOfOthers`, for bytes in memory. */
export function areOfOthers(bytes: Uint8Array, isOurs: IsOurs): boolean {
  const chain = new ChainOfOthers(isOurs);
  for (const line of Buffer.from(bytes).toString("utf8").split("\n")) chain.take(line);
  return chain.reachesEnd;
}

class ChainOfOthers {
  readonly #isOurs: IsOurs;
  #last: ReadRecord | undefined;
  #hasOurs = false;

  constructor(isOurs: IsOurs) {
    this.#isOurs = isOurs;
  }

  get reachesEnd(): boolean {
    return !this.#hasOurs && this.#last !== undefined;
  }

  /** Takes the next line. A line that is no record is ignored, because the last line may be half written. */
  take(text: string): void {
    const line = readLedgerLine(text);
    if (line.type !== "record") return;
    const { record } = line;
    this.#hasOurs ||= this.#isOurs(record);
    const follows =
      this.#last === undefined || record.seq === 1
        ? record.seq === 1 && record.genesis !== undefined
        : record.seq === this.#last.seq + 1 && record.previousHash === this.#last.hash;
    this.#last = follows && record.fixedHash === record.hash ? record : undefined;
  }
}
