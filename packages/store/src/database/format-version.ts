import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { StoreError } from "./store-error.ts";

/**
 * Format of the state directory, stored in the database as `user_version`. It covers everything in the directory: tables, the
 * JSON in them, blobs, heads, keys, journals, checkpoints. A directory with a higher format was written by a newer Gennai and
 * stays untouched. docs/release.md says what a change of it requires.
 */
export const formatVersion = 1;

/**
 * The format of a database file, read without SQLite, which would write to it or next to it; undefined if there is no file.
 * Commits of a killed process are only in the write-ahead log.
 */
export function readFormatVersion(file: string): number | undefined {
  const header = readAt(file, (read) => read(0, 64));
  if (header === undefined) return undefined;
  const inFile =
    header.toString("latin1", 0, 16) === "SQLite format 3\0" && header.length === 64 ? versionOn(header) : 0;
  return readAt(`${file}-wal`, versionInLog) ?? inFile;
}

/** Throws `StoreError` `newer_format`. */
export function refuseNewer(file: string, version: number | undefined): void {
  if (version === undefined || version <= formatVersion) return;
  throw new StoreError(
    "newer_format",
    `${file} has format ${version}, this Gennai reads up to ${formatVersion}: update Gennai, or set GENNAI_STATE_DIR to another directory.`,
  );
}

/** Gives at most `length` bytes at `position`; fewer at the end. */
type Read = (position: number, length: number) => Buffer;

const logHeader = 32;
const frameHeader = 24;

/** The format in the newest committed first page of the log. https://www.sqlite.org/fileformat2.html, "WAL File Format" */
function versionInLog(read: Read): number | undefined {
  const header = read(0, logHeader);
  if (header.length < logHeader || header.readUInt32BE(0) >>> 1 !== 0x377f0682 >>> 1) return undefined;
  const pageSize = header.readUInt32BE(8);
  let found: number | undefined;
  let committed: number | undefined;
  for (let at = logHeader; ; at += frameHeader + pageSize) {
    const frame = read(at, frameHeader + 64);
    // Different salts: the frame is left over from before the log was restarted.
    if (frame.length < frameHeader + 64 || frame.compare(header, 16, 24, 8, 16) !== 0) return committed;
    if (frame.readUInt32BE(0) === 1) found = versionOn(frame.subarray(frameHeader));
    if (frame.readUInt32BE(4) !== 0) committed = found;
  }
}

function versionOn(firstPage: Buffer): number {
  return firstPage.readUInt32BE(60);
}

/** Undefined if there is no such file. */
function readAt<Result>(file: string, look: (read: Read) => Result): Result | undefined {
  let descriptor: number;
  try {
    // Non-blocking, because opening a named pipe would wait for ever.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    if (!fstatSync(descriptor).isFile()) return undefined;
    return look((position, length) => {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
    });
  } finally {
    closeSync(descriptor);
  }
}
