import type { FileHandle } from "node:fs/promises";
import { fileLines } from "@gennai/governance/ledger/ledger-line";
import { decodeSignature, recordMessage, type Verifier } from "@gennai/governance/ledger/ledger-signature";
import { decodeLine, type ReadRecord, readLedgerLine } from "@gennai/governance/ledger/read-ledger-line";
import { digestOf } from "@gennai/protocol/digest";
import { hashAt, type LedgerReader } from "./ledger-file-name.ts";
import { chunksOf } from "./ledger-mirror-file.ts";

/**
 * Seq of the last record of a ledger's file, if the file holds records that we signed and the store lacks; otherwise undefined.
 * Only records count that follow one another from the beginning of this very ledger: nobody can forge one, and records of another
 * ledger prove nothing.
 */
export async function lastRecordBeyond(
  handle: FileHandle,
  ledger: {
    readonly workspaceId: string;
    readonly number: number;
    readonly database: LedgerReader;
    readonly verifier: Verifier;
  },
): Promise<number | undefined> {
  const { workspaceId, number, database, verifier } = ledger;
  let before: { readonly seq: number; readonly hash: string } | undefined;
  let isBeyond = false;
  for await (const line of fileLines(chunksOf(handle))) {
    const record = line.tooLong ? undefined : recordOf(line);
    const follows =
      record !== undefined &&
      (before === undefined
        ? record.seq === 1 &&
          record.genesis?.workspace === workspaceId &&
          record.previousHash === digestOf(record.genesis) &&
          // A copy of this ledger may precede it in the file: the right beginning is the one in the store.
          record.genesis.preamble_bytes === line.offset
        : record.seq === before.seq + 1 && record.previousHash === before.hash);
    if (record === undefined || !follows || !(await isGenuine(record, verifier))) {
      if (before === undefined) continue;
      break;
    }
    before = record;
    isBeyond ||= hashAt(database, number, record.seq) !== record.hash;
  }
  return isBeyond ? before?.seq : undefined;
}

function recordOf(line: Parameters<typeof decodeLine>[0]): ReadRecord | undefined {
  const decoded = decodeLine(line);
  const read = decoded === undefined ? undefined : readLedgerLine(decoded.text);
  return read?.type === "record" ? read.record : undefined;
}

async function isGenuine(record: ReadRecord, verifier: Verifier): Promise<boolean> {
  const signature = decodeSignature(record.signature);
  if (record.fixedHash !== record.hash || signature === undefined) return false;
  return verifier.verify(record.keyId, recordMessage(record.hash), signature);
}
