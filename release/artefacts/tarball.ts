import { gzipSync } from "node:zlib";
import { ReleaseError } from "../release-error.ts";

/** A file in a tarball. */
export interface TarEntry {
  /** Relative, with `/`; at most 100 bytes, or 255 with a `/` at the right place. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable?: boolean;
}

const blockSize = 512;

/**
 * A gzipped ustar archive. The same entries give the same bytes, whatever their order, the machine's clock, its user and its
 * umask: sorted by path, owner 0, modes 0644 and 0755, one time for all, a gzip header without name and time.
 *
 * @param time seconds since 1970, of every entry
 */
export function tarball(entries: readonly TarEntry[], time: number): Uint8Array {
  const sorted = entries.toSorted((one, other) => Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)));
  const blocks: Uint8Array[] = [];
  for (const [index, entry] of sorted.entries()) {
    if (entry.path === sorted[index - 1]?.path) throw new ReleaseError(`${entry.path} is twice in one archive.`);
    blocks.push(header(entry, time), entry.bytes, new Uint8Array(-entry.bytes.length & (blockSize - 1)));
  }
  blocks.push(new Uint8Array(2 * blockSize));
  const compressed = gzipSync(Buffer.concat(blocks), { level: 9 });
  // The system that compressed: unknown. Node writes another one on each platform.
  compressed[9] = 255;
  return compressed;
}

/** https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format" */
function header(entry: TarEntry, time: number): Uint8Array {
  const { prefix, name } = splitPath(entry.path);
  const block = Buffer.alloc(blockSize);
  const octal = (value: number, at: number, digits: number) => block.write(value.toString(8).padStart(digits, "0"), at);
  block.write(name, 0);
  octal(entry.executable === true ? 0o755 : 0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(entry.bytes.length, 124, 11);
  octal(time, 136, 11);
  block.write("        ", 148);
  block.write("0", 156);
  block.write("ustar\0" + "00", 257);
  octal(0, 329, 7);
  octal(0, 337, 7);
  block.write(prefix, 345);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  block.write("\0 ", 154);
  return block;
}

function splitPath(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { prefix, name };
  }
  throw new ReleaseError(`${path} is too long for an archive.`);
}
