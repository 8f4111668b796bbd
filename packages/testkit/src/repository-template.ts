import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A git repository kept in memory, so that copies can be made without starting any process. */
export interface RepositoryTemplate {
  /** Relative paths in `.git`, each after the one that it is in. */
  readonly directories: readonly string[];
  readonly files: readonly { readonly path: string; readonly mode: number; readonly content: Buffer }[];
}

/** @param root of a repository that git has just made, and that nothing runs in */
export function readTemplate(root: string): RepositoryTemplate {
  const data = join(root, ".git");
  const entries = readdirSync(data, { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isDirectory: entry.isDirectory(),
  }));
  const relative = (path: string) => path.slice(data.length + 1);
  return {
    directories: entries.flatMap(({ path, isDirectory }) => (isDirectory ? [relative(path)] : [])).toSorted(),
    files: entries
      .filter(({ isDirectory }) => !isDirectory)
      .map(({ path }) => ({
        path: relative(path),
        mode: lstatSync(path).mode & 0o777,
        content: readFileSync(path),
      })),
  };
}

/** Makes `.git` in a directory that holds the same files as the template's repository did. */
export function writeTemplate(root: string, { directories, files }: RepositoryTemplate): void {
  const data = join(root, ".git");
  for (const directory of ["", ...directories]) mkdirSync(join(data, directory), { recursive: true });
  for (const { path, mode, content } of files) {
    writeFileSync(join(data, path), path === "index" ? indexOf(root, content) : content, { mode });
  }
}

/** Bytes of an index's header, of a file's entry before its path, and of the final checksum. */
const [headerBytes, entryBytes, checksumBytes] = [12, 62, 20];

/**
 * The index, with the stat data of the files in `root` instead of the template's, so that git need not read them to see that
 * they are unchanged. https://git-scm.com/docs/index-format, version 2
 */
function indexOf(root: string, template: Buffer): Buffer {
  const index = Buffer.from(template);
  if (index.readUInt32BE(4) !== 2) throw new Error("git made an index that is not of version 2.");
  let at = headerBytes;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const pathEnd = index.indexOf(0, at + entryBytes);
    const stat = lstatSync(join(root, index.toString("utf8", at + entryBytes, pathEnd)), { bigint: true });
    const [second, low] = [1_000_000_000n, 0xffff_ffffn];
    const words = [
      ...[stat.ctimeNs / second, stat.ctimeNs % second, stat.mtimeNs / second, stat.mtimeNs % second],
      ...[stat.dev, stat.ino],
    ];
    for (const [place, word] of words.entries()) index.writeUInt32BE(Number(word & low), at + place * 4);
    // Filled up with zeros, at least one, to a multiple of eight.
    at += Math.floor((pathEnd - at + 8) / 8) * 8;
  }
  const end = index.length - checksumBytes;
  createHash("sha1").update(index.subarray(0, end)).digest().copy(index, end);
  return index;
}
