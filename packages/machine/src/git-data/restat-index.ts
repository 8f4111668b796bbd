import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { type EntryLayout, gitlink, indexLayout } from "./git-index.ts";

/** The data by which git recognizes an unchanged file without reading it; the device does not count. */
export type StatData = Pick<BigIntStats, "ctimeNs" | "mtimeNs" | "ino" | "uid" | "gid" | "size">;

export function statDataOf({ ctimeNs, mtimeNs, ino, uid, gid, size }: StatData): StatData {
  return { ctimeNs, mtimeNs, ino, uid, gid, size };
}

/**
 * An index adapted to another place with equal files, whose stat data differ. An entry that does not match its file stays
 * unchanged: git then reads the file. undefined for an index that cannot be parsed.
 *
 * @param places of a path, from the work tree's top: the stat data in the index if unchanged, and the new ones
 */
export function restatIndex(
  bytes: Uint8Array,
  places: (path: string) => { readonly from: StatData; readonly to: StatData } | undefined,
): Uint8Array | undefined {
  const layout = indexLayout(bytes);
  if (layout === undefined) return undefined;
  const { objectBytes } = layout;
  const view = Buffer.from(layout.view);
  for (const entry of layout.entries) {
    const place = entry.mode === gitlink ? undefined : places(entry.path);
    if (place !== undefined && knows(view, entry, place.from)) write(view, entry, place.to);
  }
  const digestAt = view.length - objectBytes;
  // Git can be configured to write no digest.
  if (view.subarray(digestAt).some((byte) => byte !== 0)) {
    createHash(objectBytes === 20 ? "sha1" : "sha256")
      .update(view.subarray(0, digestAt))
      .digest()
      .copy(view, digestAt);
  }
  return view;
}

/** Offsets of an entry's four-byte fields: two times (seconds, nanoseconds), device, inode, mode, owner, group, size. */
const at = { ctime: 0, mtime: 8, inode: 20, owner: 28, group: 32, size: 36 } as const;
const second = 1_000_000_000n;

function knows(view: Buffer, { start }: EntryLayout, stat: StatData): boolean {
  const has = (field: number, value: bigint): boolean => view.readUInt32BE(start + field) === word(value);
  const isTime = (field: number, ns: bigint): boolean =>
    // Some programs write whole seconds only.
    has(field, ns / second) && (has(field + 4, ns % second) || has(field + 4, 0n));
  return (
    isTime(at.ctime, stat.ctimeNs) &&
    isTime(at.mtime, stat.mtimeNs) &&
    has(at.inode, stat.ino) &&
    has(at.owner, stat.uid) &&
    has(at.group, stat.gid) &&
    has(at.size, stat.size)
  );
}

function write(view: Buffer, { start }: EntryLayout, stat: StatData): void {
  const put = (field: number, value: bigint): void => void view.writeUInt32BE(word(value), start + field);
  put(at.ctime, stat.ctimeNs / second);
  put(at.ctime + 4, stat.ctimeNs % second);
  put(at.mtime, stat.mtimeNs / second);
  put(at.mtime + 4, stat.mtimeNs % second);
  put(at.inode, stat.ino);
  put(at.owner, stat.uid);
  put(at.group, stat.gid);
  put(at.size, stat.size);
}

/** The lower 32 bits of a number, which is what git keeps. */
function word(value: bigint): number {
  return Number(BigInt.asUintN(32, value));
}
