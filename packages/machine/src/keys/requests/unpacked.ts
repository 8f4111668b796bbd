import { gunzipSync } from "node:zlib";

/** A file of an archive, or another entry. */
interface TarEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Bytes. */
const maxBytes = 256 * 1024 * 1024;

/** The entries of a gzipped tar archive (POSIX ustar). Throws for one that is larger, and for sizes and names in other forms. */
export function unpacked(archive: Buffer): readonly TarEntry[] {
  const tar = gunzipSync(archive, { maxOutputLength: maxBytes });
  const entries: TarEntry[] = [];
  let longName: string | undefined;
  for (let at = 0; at + 512 <= tar.length; ) {
    const text = (from: number, length: number): string =>
      tar.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    if (tar[at] === 0) break;
    const size = Number.parseInt(text(124, 12).trim() || "0", 8);
    if (!Number.isSafeInteger(size) || !/^[0-7 ]*$/.test(text(124, 12)))
      throw new Error("The archive has a strange size.");
    const content = tar.subarray(at + 512, at + 512 + size);
    const type = text(156, 1);
    const prefix = text(257, 5) === "ustar" ? text(345, 155) : "";
    const own = `${prefix === "" ? "" : `${prefix}/`}${text(0, 100)}`;
    if (type === "x") longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(content.toString())?.[1];
    // Names and settings in other forms, which some programs read and others do not.
    else if (/[gLK]/.test(type)) throw new Error("The archive has entries of another kind.");
    else {
      entries.push({ name: longName ?? own, content });
      longName = undefined;
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}
