import { createHash } from "node:crypto";
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { systemErrorCode } from "../system-error.ts";
import { giveWay } from "./give-way.ts";

/** What is at a path. */
export type Entry =
  /** `sha256`, lower-case hex, is undefined for a file that this user may not read. */
  | { readonly type: "file"; readonly mode: number; readonly size: number; readonly sha256: string | undefined }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "directory"; readonly mode: number }
  /** A pipe, a socket or a device. */
  | { readonly type: "other"; readonly mode: number };

/** Identifies an entry as it was at a look. Times in nanoseconds. */
export interface Identity {
  readonly inode: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly mode: number;
}

/** Undefined if nothing is at the path. Throws other system errors. */
export function statIfPresent(path: string): BigIntStats | undefined {
  try {
    // A thrown error takes ten times as long as the call.
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (systemErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

export function identityOf(stat: BigIntStats): Identity {
  const { ino: inode, size, mtimeNs, ctimeNs } = stat;
  return { inode, size, mtimeNs, ctimeNs, mode: modeOf(stat) };
}

/** Permission bits, with set-id and sticky. */
export function modeOf(stat: BigIntStats): number {
  return Number(stat.mode & 0o7777n);
}

/** Whether an entry in an overlay's upper layer says that a name of the lower layer is gone. */
export function isWhiteout(stat: BigIntStats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}

export async function entryAt(path: string, stat: BigIntStats): Promise<Entry> {
  if (stat.isSymbolicLink()) return { type: "link", target: readlinkSync(path) };
  const mode = modeOf(stat);
  if (stat.isDirectory()) return { type: "directory", mode };
  if (!stat.isFile()) return { type: "other", mode };
  return { type: "file", mode, size: Number(stat.size), sha256: await digestOf(path) };
}

/** Whether the entries are equal, without reading their contents. */
export function isSameEntry(one: Entry, other: Entry): boolean {
  if (one.type === "link") return other.type === "link" && one.target === other.target;
  if (one.type === "file") {
    return (
      other.type === "file" &&
      one.sha256 !== undefined &&
      one.sha256 === other.sha256 &&
      one.size === other.size &&
      one.mode === other.mode
    );
  }
  return one.type === other.type && one.mode === other.mode;
}

/** SHA-256 of a regular file, lower-case hex; undefined when it may not be read, or is gone. */
async function digestOf(path: string): Promise<string | undefined> {
  const descriptor = openForReading(path);
  if (descriptor === undefined) return undefined;
  try {
    const digest = createHash("sha256");
    for (let count = readSync(descriptor, piece); count > 0; count = readSync(descriptor, piece)) {
      digest.update(piece.subarray(0, count));
      await giveWay();
    }
    return digest.digest("hex");
  } finally {
    closeSync(descriptor);
  }
}

function openForReading(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    // The user removed it or took away the rights since: the commit finds that out, and says so.
    if (code === "EACCES" || code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Runs `work` while the owner has these rights to the entry, which a command may have taken away.
 * @param mode the entry's present mode
 */
export async function withRights<Value>(
  path: string | Buffer,
  mode: number,
  rights: number,
  work: () => Promise<Value>,
): Promise<Value> {
  if ((mode & rights) === rights) return work();
  chmodSync(path, mode | rights);
  try {
    return await work();
  } finally {
    chmodSync(path, mode);
  }
}

/** Shared memory: nothing else may run between reading into it and using it. */
const piece = Buffer.allocUnsafeSlow(256 * 1024);
