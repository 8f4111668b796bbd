import { gunzipSync } from "node:zlib";

/** A file of an archive, or a directory. */
interface TarEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Bytes. */
const maxBytes = 256 * 1024 * 1024;

/**
 * The files and directories of a gzipped tar archive (POSIX ustar, with long names of pax). Throws for one that is larger, and for
 * whatever programs read in different ways, because some would then see other files.
 */
export function unpacked(archive: Buffer): readonly TarEntry[] {
  return archiveEntries(ungzipped(archive, maxBytes));
}

/** What one gzip holds. Throws for several behind each other, because some programs read only the first. */
export function ungzipped(packed: Buffer, maxOutputLength: number): Buffer {
  const whole = gunzipSync(packed, { maxOutputLength });
  // Each ends with the length of what it holds.
  if (packed.readUInt32LE(packed.length - 4) !== whole.length) throw strange("end");
  return whole;
}

/** The same of an archive that is not packed. */
export function archiveEntries(tar: Buffer): readonly TarEntry[] {
  const entries: TarEntry[] = [];
  let more: ReadonlyMap<string, string> | undefined;
  let at = 0;
  for (; at + 512 <= tar.length && tar[at] !== 0; ) {
    const { name, type, size } = headerOf(tar.subarray(at, at + 512));
    const content = tar.subarray(at + 512, at + 512 + size);
    if (content.length < size) throw strange("end");
    if (type === "x" && more === undefined) more = recordsOf(content);
    else if (type === "x" || (more?.get("size") ?? String(size)) !== String(size)) throw strange("size");
    else {
      const whole = more?.get("path") ?? name;
      if (!isPlainName(whole)) throw strange("name");
      if ((type === "5" || whole.endsWith("/")) && size > 0) throw strange("directory");
      entries.push({ name: whole, content });
      more = undefined;
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  // Some programs read on behind an empty block.
  if (more !== undefined || tar.subarray(at).some((byte) => byte !== 0)) throw strange("end");
  return entries;
}

function headerOf(block: Buffer): { readonly name: string; readonly type: string; readonly size: number } {
  const field = (from: number, length: number): string => block.toString("utf8", from, from + length);
  const text = (from: number, length: number): string => {
    const [, found] = /^([^\0]*)\0*$/.exec(field(from, length)) ?? [];
    if (found === undefined) throw strange("name");
    return found;
  };
  const [, sum] = /^ *([0-7]{1,7})[ \0]+$/.exec(field(148, 8)) ?? [];
  const [, size] = /^ *([0-7]{1,12})[ \0]*$/.exec(field(124, 12)) ?? [];
  // Its own place counts as spaces.
  const counted = block.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum === undefined || Number.parseInt(sum, 8) !== counted) throw strange("checksum");
  if (size === undefined) throw strange("size");
  const type = field(156, 1);
  // A file, a directory, or records of pax for the next entry.
  if (!["\0", "0", "5", "x"].includes(type) || text(157, 100) !== "") throw strange("kind of entry");
  const isPosix = field(257, 8) === "ustar\x0000";
  const prefix = text(345, 155);
  if (prefix !== "" && !isPosix) throw strange("name");
  const name = `${prefix === "" ? "" : `${prefix}/`}${text(0, 100)}`;
  return { name, type, size: Number.parseInt(size, 8) };
}

/** What of pax changes no meaning, besides of `path` and `size`. */
const meaningless = /^(?:[acm]time|[ug]id|[ug]name|(?:SCHILY\.)?(?:dev|ino|nlink)|LIBARCHIVE\.creationtime)$/;

/** The records of pax: `LENGTH NAME=VALUE` in lines. */
function recordsOf(content: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (const line of content.toString().split(/(?<=\n)/)) {
    const [, length, name = "", value = ""] = /^([1-9]\d*) ([\w.]+)=([^\n\0]*)\n$/.exec(line) ?? [];
    const isKnown = name === "path" || name === "size" || meaningless.test(name);
    if (Number(length) !== Buffer.byteLength(line) || !isKnown || records.has(name)) throw strange("record");
    records.set(name, value);
  }
  return records;
}

function isPlainName(name: string): boolean {
  const parts = name.replace(/\/$/, "").split("/");
  return !/[\\\p{Cc}]/u.test(name) && parts.every((part) => !/^\.{0,2}$/.test(part));
}

function strange(what: string): Error {
  return new Error(`The archive has an unusable ${what}.`);
}
