import { createHash, hash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import {
  type EntryLayout,
  extended,
  type IndexLayout,
  indexLayout,
  intentToAdd,
  isPlain,
  skipWorktree,
} from "./git-index.ts";

/** The user's index before a command. */
export interface OwnIndex {
  readonly bytes: Uint8Array;
  /** Time of its file's last change: git reads the files of entries that are not older. */
  readonly mtimeNs: bigint;
}

/** The index at a path; undefined if there is none. */
export function ownIndex(path: string): OwnIndex | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() === true ? { bytes: readFileSync(path), mtimeNs: stat.mtimeNs } : undefined;
}

/**
 * An index written anew from what a command's index says: for each path the mode, the object and the stage. What lets git skip a
 * look at a file, its stat data and flags, is the user's own for an entry that stayed the same, and missing for any other. Cached
 * trees stay if they match the entries; otherwise the next commit would contain something that no status shows. Names that are
 * only meant to be added are left out. undefined for an index that cannot be judged.
 */
export function rebuiltIndex(bytes: Uint8Array, own?: OwnIndex): Buffer | undefined {
  const layout = indexLayout(bytes);
  if (layout === undefined) return undefined;
  const before = ownEntries(layout, own);
  const entries = layout.entries.flatMap((entry) => {
    const old = before.get(keyOf(entry));
    const same = old !== undefined && isSame(layout, entry, old) ? old : undefined;
    if (same === undefined && (entry.more & intentToAdd) !== 0) return [];
    const more = (same?.entry.more ?? 0) & (skipWorktree | intentToAdd);
    return [{ bytes: entryBytes(layout, entry, { same, more, racyAt: own?.mtimeNs ?? 0n }), more }];
  });
  const header = Buffer.from("DIRC\0\0\0\0\0\0\0\0", "latin1");
  // Version 2 has no further flags.
  header.writeUInt32BE(entries.some(({ more }) => more !== 0) ? 3 : 2, 4);
  header.writeUInt32BE(entries.length, 8);
  const content = Buffer.concat([header, ...entries.map((entry) => entry.bytes)]);
  const whole = ended(content, layout);
  const trees = treeExtension(layout);
  const rebuilt = indexLayout(whole);
  if (trees === undefined || rebuilt === undefined || !saysTrees(trees.subarray(8), rebuilt)) return whole;
  return ended(Buffer.concat([content, trees]), layout);
}

interface OwnEntry {
  readonly entry: EntryLayout;
  readonly view: Buffer;
}

function ownEntries({ objectBytes }: IndexLayout, own: OwnIndex | undefined): ReadonlyMap<string, OwnEntry> {
  const layout = own === undefined ? undefined : indexLayout(own.bytes);
  if (layout?.objectBytes !== objectBytes) return new Map();
  return new Map(layout.entries.map((entry) => [keyOf(entry), { entry, view: layout.view }]));
}

function keyOf({ name, flags }: EntryLayout): string {
  return `${(flags >> 12) & 3}${name.toString("latin1")}`;
}

function isSame({ view }: IndexLayout, entry: EntryLayout, old: OwnEntry): boolean {
  const { mode, start, flagsAt, more } = old.entry;
  const hasObject = view
    .subarray(entry.start + statBytes, entry.flagsAt)
    .equals(old.view.subarray(start + statBytes, flagsAt));
  return hasObject && mode === entry.mode && ((more ^ entry.more) & intentToAdd) === 0;
}

/** Length of the stat data, with the mode. */
const statBytes = 40;

function entryBytes(
  { view, objectBytes }: IndexLayout,
  { name, mode, start, flagsAt, flags }: EntryLayout,
  { same, more, racyAt }: { readonly same: OwnEntry | undefined; readonly more: number; readonly racyAt: bigint },
): Buffer {
  const length = statBytes + objectBytes + (more === 0 ? 2 : 4) + name.length;
  const bytes = Buffer.alloc((length + 8) & ~7);
  const stat = same?.view.subarray(same.entry.start, same.entry.start + statBytes);
  if (stat !== undefined && mtimeOf(stat) < racyAt) stat.copy(bytes);
  bytes.writeUInt32BE(mode, 24);
  view.copy(bytes, statBytes, start + statBytes, flagsAt);
  const kept = same === undefined ? flags & (stageBits | nameLength) : same.entry.flags & ~extended;
  bytes.writeUInt16BE(kept | (more === 0 ? 0 : extended), statBytes + objectBytes);
  if (more !== 0) bytes.writeUInt16BE(more, statBytes + objectBytes + 2);
  name.copy(bytes, length - name.length);
  return bytes;
}

const stageBits = 0x3000;
const nameLength = 0xfff;

function mtimeOf(stat: Buffer): bigint {
  return BigInt(stat.readUInt32BE(8)) * 1_000_000_000n + BigInt(stat.readUInt32BE(12));
}

/** Adds the digest at the end, if the index had one: git can be configured to write none. */
function ended(content: Buffer, { view, objectBytes }: IndexLayout): Buffer {
  const before = view.subarray(view.length - objectBytes);
  if (before.every((byte) => byte === 0)) return Buffer.concat([content, before]);
  const algorithm = objectBytes === 20 ? "sha1" : "sha256";
  return Buffer.concat([content, createHash(algorithm).update(content).digest()]);
}

/** The extension with cached trees, and its head. */
function treeExtension({ view, end, objectBytes }: IndexLayout): Buffer | undefined {
  for (let at = end; at < view.length - objectBytes; ) {
    const next = at + 8 + view.readUInt32BE(at + 4);
    if (view.toString("latin1", at, at + 4) === "TREE") return view.subarray(at, next);
    at = next;
  }
  return undefined;
}

/** Most nested directories; nobody has so many. */
const deepest = 500;

interface Tree {
  readonly object: Buffer;
  /** Number of entries of the index in this directory. */
  readonly entries: number;
}

/** The extension has for each directory: name, NUL, number of entries (-1: tree unknown), of directories, and tree. */
function saysTrees(extension: Buffer, layout: IndexLayout): boolean {
  const trees = treesOf(layout);
  const { objectBytes } = layout;
  let at = 0;
  const read = (parent: string | undefined, depth: number): boolean => {
    if (depth > deepest) return false;
    const nameEnd = extension.indexOf(0, at);
    const lineEnd = extension.indexOf(10, nameEnd);
    if (nameEnd < 0 || lineEnd < 0) return false;
    const name = extension.toString("latin1", at, nameEnd);
    const numbers = /^(-?\d+) (\d+)$/.exec(extension.toString("latin1", nameEnd + 1, lineEnd));
    if (numbers === null) return false;
    const path = parent === undefined ? "" : `${parent}${name}/`;
    at = lineEnd + 1;
    const entries = Number(numbers[1]);
    if (entries >= 0) {
      const object = extension.subarray(at, at + objectBytes);
      at += objectBytes;
      const tree = trees.get(path);
      if (tree?.entries !== entries || !tree.object.equals(object)) return false;
    }
    for (let below = Number(numbers[2]); below > 0; below -= 1) if (!read(path, depth + 1)) return false;
    return true;
  };
  return read(undefined, 0) && at === extension.length;
}

/** The trees by directory, with a slash at its end. None for a directory with an entry that is in no tree, or in conflict. */
function treesOf({ view, entries, objectBytes }: IndexLayout): ReadonlyMap<string, Tree> {
  const algorithm = objectBytes === 20 ? "sha1" : "sha256";
  const trees = new Map<string, Tree>();
  const names = entries.map(({ name }) => name.toString("latin1"));
  if (names.some((name) => name.split("/").length > deepest)) return trees;
  let at = 0;
  // An index is in the order of trees, in which a directory counts as its name with a slash.
  const build = (directory: string): Tree | undefined => {
    const first = at;
    const parts: Buffer[] = [];
    let isPlainAll = true;
    while (names[at]?.startsWith(directory) === true) {
      const entry = entries[at];
      const path = names[at] ?? "";
      const slash = path.indexOf("/", directory.length);
      if (entry === undefined) break;
      const name = path.slice(directory.length, slash < 0 ? undefined : slash);
      let object: Buffer | undefined;
      if (slash >= 0) object = build(path.slice(0, slash + 1))?.object;
      else {
        at += 1;
        object = isPlain(entry) ? view.subarray(entry.start + 40, entry.flagsAt) : undefined;
      }
      if (object === undefined) isPlainAll = false;
      else parts.push(Buffer.from(`${slash < 0 ? entry.mode.toString(8) : "40000"} ${name}\0`, "latin1"), object);
    }
    if (!isPlainAll) return undefined;
    const content = Buffer.concat(parts);
    const object = hash(algorithm, Buffer.concat([Buffer.from(`tree ${content.length}\0`), content]), "buffer");
    const tree = { object, entries: at - first };
    trees.set(directory, tree);
    return tree;
  };
  build("");
  return trees;
}
