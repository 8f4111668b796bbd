import { isUtf8 } from "node:buffer";
import { createHash, hash } from "node:crypto";

/** One entry of git's index. */
export interface IndexEntry {
  /** Octal, as git writes it, e.g. `100644`; `160000` is a submodule. */
  readonly mode: string;
  /** Name of the object, hex. */
  readonly object: string;
  readonly intentToAdd: boolean;
}

/** Entries by `entryKey`. */
export type GitIndex = ReadonlyMap<string, IndexEntry>;

/**
 * Reads git's index (versions 2 to 4); undefined for a split, sparse, damaged or unknown one, which cannot be judged. Runs no
 * git, because the repository may not be trusted. Paths that are not UTF-8 contain U+FFFD.
 */
export function readGitIndex(bytes: Uint8Array): GitIndex | undefined {
  const layout = indexLayout(bytes);
  if (layout === undefined) return undefined;
  return new Map(
    layout.entries.map((entry) => [
      entryKey(entry),
      {
        mode: entry.mode.toString(8),
        object: objectName(layout, entry),
        intentToAdd: (entry.more & intentToAdd) !== 0,
      },
    ]),
  );
}

/** Key of an entry: its path, or `PATH\0STAGE` for one of a conflict, and `PATH\0STAGE\0BYTES` for one that is not UTF-8. */
function entryKey({ path, name, flags }: EntryLayout): string {
  const stage = (flags >> 12) & 3;
  if (!isUtf8(name)) return `${path}\0${stage}\0${name.toString("hex")}`;
  return stage === 0 ? path : `${path}\0${stage}`;
}

/** True if the entry would become part of a commit's tree unchanged. */
export function isPlain({ flags, more }: EntryLayout): boolean {
  return ((flags >> 12) & 3) === 0 && (more & intentToAdd) === 0;
}

/** Name of an entry's object, in hex. */
function objectName({ view }: IndexLayout, { start, flagsAt }: EntryLayout): string {
  return view.toString("hex", start + 40, flagsAt);
}

/** Name that git would give to a file's content, in the hash algorithm of another object's name. */
export function objectOf(content: Uint8Array, like: string): string {
  const header = `blob ${content.length}\0`;
  return createHash(like.length === 64 ? "sha256" : "sha1")
    .update(header)
    .update(content)
    .digest("hex");
}

/**
 * A digest of what an index says; it stays the same if git only looks at the files again. undefined for an index that cannot be
 * judged.
 */
export function indexMeaning(bytes: Uint8Array): string | undefined {
  const index = readGitIndex(bytes);
  return index === undefined ? undefined : hash("sha256", JSON.stringify([...index]), "hex");
}

/** Positions in an index. */
export interface IndexLayout {
  readonly view: Buffer;
  readonly version: number;
  /** Length in bytes of object names, and of the digest at the end. */
  readonly objectBytes: number;
  readonly entries: readonly EntryLayout[];
  /** Offset at which the extensions begin. */
  readonly end: number;
}

export interface EntryLayout {
  /** Relative to the top of the work tree. */
  readonly path: string;
  /** The same as bytes. */
  readonly name: Buffer;
  readonly mode: number;
  readonly start: number;
  readonly flagsAt: number;
  readonly flags: number;
  /** Flags of later index versions; 0 if there are none. */
  readonly more: number;
  /** Offsets of what follows the flags, and of the next entry. */
  readonly nameAt: number;
  readonly end: number;
}

export const extended = 0x4000;
export const skipWorktree = 0x4000;
export const intentToAdd = 0x2000;
const nameLength = 0xfff;
/** Mode of a submodule. */
export const gitlink = 0o160000;
const modes: ReadonlySet<number> = new Set([0o100644, 0o100755, 0o120000, gitlink]);

/** Whether a file begins as an index. */
export function isIndexFile(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 4)).toString("latin1") === "DIRC";
}

/** undefined as with `readGitIndex`. */
export function indexLayout(bytes: Uint8Array): IndexLayout | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 12 || !isIndexFile(bytes)) return undefined;
  const version = view.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  for (const objectBytes of [20, 32]) {
    const read = layoutWith(view, version, objectBytes);
    if (read !== undefined) return read;
  }
  return undefined;
}

function layoutWith(view: Buffer, version: number, objectBytes: number): IndexLayout | undefined {
  const count = view.readUInt32BE(8);
  const entries: EntryLayout[] = [];
  let path: Buffer = Buffer.alloc(0);
  let at = 12;
  for (let number = 0; number < count; number += 1) {
    const start = at;
    const flagsAt = start + 40 + objectBytes;
    if (flagsAt + 4 > view.length) return undefined;
    const mode = view.readUInt32BE(start + 24);
    if (!modes.has(mode)) return undefined;
    const flags = view.readUInt16BE(flagsAt);
    const isExtended = version > 2 && (flags & extended) !== 0;
    const more = isExtended ? view.readUInt16BE(flagsAt + 2) : 0;
    const nameAt = flagsAt + (isExtended ? 4 : 2);
    const name = version === 4 ? readOffset(view, nameAt) : { value: path.length, next: nameAt };
    if (name === undefined || name.value > path.length) return undefined;
    const end = view.indexOf(0, name.next);
    if (end < 0) return undefined;
    path = Buffer.concat([path.subarray(0, path.length - name.value), view.subarray(name.next, end)]);
    // Git uses the length, and this code the NUL at the end: both must agree.
    if ((flags & nameLength) !== Math.min(path.length, nameLength)) return undefined;
    if (!isInOrder(entries.at(-1), path, flags) || !isTrackable(path)) return undefined;
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    entries.push({ path: path.toString(), name: path, mode, start, flagsAt, flags, more, nameAt, end: at });
  }
  return followedByWhole(view, at, objectBytes) ? { view, version, objectBytes, entries, end: at } : undefined;
}

/** Whether an entry comes after the one before, as git expects it. */
function isInOrder(before: EntryLayout | undefined, name: Buffer, flags: number): boolean {
  const order = before === undefined ? -1 : before.name.compare(name);
  return order < 0 || (order === 0 && (((before?.flags ?? 0) >> 12) & 3) < ((flags >> 12) & 3));
}

/** Whether git itself would track a file of this name. */
function isTrackable(name: Buffer): boolean {
  return name
    .toString("latin1")
    .split("/")
    .every((part) => !/^(?:|\.\.?|\.git)$/i.test(part));
}

/** Reads a variable-length number of version 4. */
function readOffset(view: Buffer, start: number): { readonly value: number; readonly next: number } | undefined {
  let at = start;
  let byte = view[at++];
  let value = (byte ?? 0) & 0x7f;
  while (byte !== undefined && (byte & 0x80) !== 0) {
    byte = view[at++];
    value = (value + 1) * 128 + ((byte ?? 0) & 0x7f);
  }
  return byte === undefined ? undefined : { value, next: at };
}

/** True if only extensions and a digest follow. An extension with a small first letter changes what the entries mean. */
function followedByWhole(view: Buffer, start: number, objectBytes: number): boolean {
  let at = start;
  while (at + 8 <= view.length - objectBytes) {
    if (/^[a-z]/.test(view.toString("latin1", at, at + 4))) return false;
    at += 8 + view.readUInt32BE(at + 4);
  }
  return at === view.length - objectBytes;
}
