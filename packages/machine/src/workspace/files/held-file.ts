import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { ToolFailure } from "@gennai/governance/tool-error";
import { systemErrorCode } from "../../system-error.ts";
import { type FileContent, recentContents, rememberAsNewest, sha256 } from "./content-digest.ts";
import type { HeldDirectory } from "./held-directory.ts";

/** A file as it was read: its content, and the attributes that a replacement has to keep. */
export interface HeldFile extends FileContent {
  /** Permission bits. */
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
  /** How many names it has (hard links). */
  readonly names?: number;
}

/**
 * Reads a regular file in a held directory, all within one tick. Throws `not_a_file`, `too_large` and system errors
 * (`ENOENT`; `ELOOP` for a link).
 */
export function readHeldFile(directory: HeldDirectory, name: string, maxBytes = Number.POSITIVE_INFINITY): HeldFile {
  const file = openForReading(directory, name, maxBytes);
  try {
    const content = readUnlessRecent(file, name, maxBytes);
    if (!(content instanceof GrowingBuffer)) return heldFile(content, file.stat);
    while (content.add(readSync(file.descriptor, content.free()))) checkSize(content.length, maxBytes, name);
    return heldFile(hashed(content.bytes()), file.stat);
  } finally {
    closeSync(file.descriptor);
  }
}

/** True when the file holds exactly these bytes; cheaper than to compare hashes. Throws like `readHeldFile`. */
export function holdsBytes(directory: HeldDirectory, name: string, bytes: Uint8Array): boolean {
  const file = openForReading(directory, name, Number.POSITIVE_INFINITY);
  try {
    return compareWith(file.descriptor, [{ bytes }]).type === "same";
  } finally {
    closeSync(file.descriptor);
  }
}

/** Like `readHeldFile`, but reads a large file in pieces, with other work in between; `signal` stops it between two pieces. */
export async function readHeldFileInPieces(
  directory: HeldDirectory,
  name: string,
  options: { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<HeldFile> {
  options.signal?.throwIfAborted();
  const file = openForReading(directory, name, options.maxBytes);
  try {
    const content = readUnlessRecent(file, name, options.maxBytes);
    if (!(content instanceof GrowingBuffer)) return heldFile(content, file.stat);
    // Small reads come from the page cache: the thread pool would take longer than the read.
    const inOneTick = file.stat.size <= oneTickBytes;
    for (;;) {
      const count = inOneTick
        ? readSync(file.descriptor, content.free())
        : (await readAsync(file.descriptor, content.free(), 0, content.free().length, null)).bytesRead;
      if (!content.add(count)) break;
      checkSize(content.length, options.maxBytes, name);
      options.signal?.throwIfAborted();
    }
    return heldFile(hashed(content.bytes()), file.stat);
  } finally {
    closeSync(file.descriptor);
  }
}

/** Content of the file; undefined when no such entry exists. Throws like `readHeldFile` otherwise. */
export function readIfPresent(directory: HeldDirectory, name: string): HeldFile | undefined {
  try {
    return readHeldFile(directory, name);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Writes bytes to a new temporary file and gives its open descriptor: the caller syncs and closes it. Removes the file
 * again when writing fails.
 *
 * @param like file whose permission bits and, where allowed, owner the new one gets
 */
export function writeTemporaryFile(
  directory: HeldDirectory,
  name: string,
  bytes: Uint8Array,
  like?: { readonly mode: number; readonly owner: number; readonly group: number },
): number {
  const path = directory.entry(name);
  const descriptor = openSync(path, temporaryFlags, like === undefined ? 0o666 : 0o600);
  try {
    if (like !== undefined) likeFile(descriptor, like);
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    unlinkSync(path);
    throw error;
  }
}

/** A new name that identifies the process, in case a crash leaves the file behind. */
export function temporaryName(): string {
  return temporaryPrefix + randomBytes(9).toString("hex");
}

/** Prefix of the names of temporary files. */
export const temporaryPrefix = ".gennai-tmp-";

/** The whole content if it is among the recent ones, which needs no further memory; otherwise the part read so far. */
function readUnlessRecent({ descriptor, stat }: OpenFile, name: string, maxBytes: number): FileContent | GrowingBuffer {
  const recent = recentContents(stat.size);
  if (recent.length === 0) return new GrowingBuffer(stat.size);
  const compared = compareWith(descriptor, recent);
  if (compared.type === "same") {
    rememberAsNewest(compared.content);
    return compared.content;
  }
  const content = new GrowingBuffer(stat.size, compared.read);
  checkSize(content.length, maxBytes, name);
  return content;
}

type Compared<Content> =
  | { readonly type: "same"; readonly content: Content }
  /** `read`: the pieces read until the difference. */
  | { readonly type: "other"; readonly read: readonly Uint8Array[] };

/**
 * Reads on until the end of the file, or until it differs from all of these contents. Within one tick, because all reads share
 * one buffer.
 * @param contents of equal length; at least one
 */
function compareWith<Content extends { readonly bytes: Uint8Array }>(
  descriptor: number,
  contents: readonly Content[],
): Compared<Content> {
  let same = contents;
  for (let length = 0; ; ) {
    const [first] = same;
    if (first === undefined) throw new RangeError("There is no content to compare with.");
    const count = readSync(descriptor, piece);
    const end = length + count;
    if (count === 0 && end === first.bytes.length) return { type: "same", content: first };
    const still =
      count === 0 || end > first.bytes.length
        ? []
        : same.filter(({ bytes }) => piece.compare(bytes, length, end, 0, count) === 0);
    if (still.length === 0) return { type: "other", read: [first.bytes.subarray(0, length), piece.subarray(0, count)] };
    same = still;
    length = end;
  }
}

interface OpenFile {
  readonly descriptor: number;
  readonly stat: Stats;
}

function openForReading(directory: HeldDirectory, name: string, maxBytes: number): OpenFile {
  const path = directory.entry(name);
  // Without O_NOFOLLOW (Windows), a link is detected by a separate call.
  if (constants.O_NOFOLLOW === undefined && lstatSync(path).isSymbolicLink()) throw notAFile(name);
  const descriptor = openSync(path, readFlags);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw notAFile(name);
    checkSize(stat.size, maxBytes, name);
    return { descriptor, stat };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function hashed(bytes: Uint8Array): FileContent {
  return { bytes, sha256: sha256(bytes) };
}

function heldFile({ bytes, sha256: digest }: FileContent, stat: Stats): HeldFile {
  return { bytes, sha256: digest, mode: stat.mode & 0o7777, owner: stat.uid, group: stat.gid, names: stat.nlink };
}

function checkSize(size: number, maxBytes: number, name: string): void {
  if (size <= maxBytes) return;
  throw new ToolFailure("too_large", `${name} is larger than ${maxBytes} bytes.`, {
    hint: "Search for the part you need instead of reading the whole file.",
  });
}

function notAFile(name: string): ToolFailure {
  return new ToolFailure("not_a_file", `${name} is not a regular file.`);
}

/** Gives an open file these permission bits and, where allowed, this owner. */
export function likeFile(
  descriptor: number,
  like: { readonly mode: number; readonly owner?: number; readonly group?: number },
): void {
  if (process.platform === "win32") return;
  const own = fstatSync(descriptor);
  const { owner = own.uid, group = own.gid } = like;
  if (own.uid !== owner || own.gid !== group) {
    try {
      fchownSync(descriptor, owner, group);
    } catch {
      // Only root may change the owner; the content matters more than the owner.
    }
  }
  // Set-user-id and set-group-id are cleared, as a write does on any system.
  fchmodSync(descriptor, like.mode & 0o1777);
}

/** Starts at the expected size plus one byte, so that one more read shows the end of a file that did not grow. */
class GrowingBuffer {
  #bytes: Buffer;
  length = 0;

  /** @param read what was read already; it is copied */
  constructor(expected: number, read: readonly Uint8Array[] = []) {
    const length = read.reduce((sum, part) => sum + part.length, 0);
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(expected, length) + 1);
    for (const part of read) {
      this.#bytes.set(part, this.length);
      this.length += part.length;
    }
  }

  free(): Buffer {
    return this.#bytes.subarray(this.length);
  }

  /** False at the end of the file. */
  add(count: number): boolean {
    if (count === 0) return false;
    this.length += count;
    if (this.length === this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(this.#bytes.length * 2 + 65_536);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    return true;
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset, this.length);
  }
}

const oneTickBytes = 1_048_576;
/** Buffer for a piece of a file that is only compared. */
const piece = Buffer.allocUnsafeSlow(65_536);
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const temporaryFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const readAsync = promisify(read);
