import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { entryAt } from "../entry-at.ts";
import { readGitHead } from "../git-data/git-head.ts";

/** Larger files are not compared, and count as different. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Whether an entry of git's index, `MODE OBJECT`, equals the file in the work tree, as after `git add`. The entry is undefined
 * if the index has none. Never true for two stages of a conflict.
 *
 * @param name path from the work tree's top
 * @param options.before the earlier entry: if git ignores modes, it keeps that one's
 */
export function isStaged(
  workTree: string,
  name: string,
  { entry, before }: { readonly entry: string | undefined; readonly before: string | undefined },
): boolean {
  if (name.includes("\0")) return false;
  const path = join(workTree, name);
  const stat = entryAt(path);
  if (entry === undefined || stat === undefined) return entry === undefined && stat === undefined;
  const [mode = "", object] = entry.split(" ");
  if (mode === "160000") {
    const head = stat.isDirectory() ? readGitHead(path) : undefined;
    return head !== undefined && head.type !== "none" && head.commit === object;
  }
  if (stat.isSymbolicLink()) return mode === "120000" && objectOf(Buffer.from(readlinkSync(path)), entry) === object;
  if (!stat.isFile() || stat.size > maxBytes) return false;
  if (mode !== ((stat.mode & 0o100n) === 0n ? "100644" : "100755") && mode !== before?.split(" ")[0]) return false;
  const bytes = readFileSync(path);
  // Git may convert line ends to those of other systems.
  const normalised = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return objectOf(bytes, entry) === object || objectOf(normalised, entry) === object;
}

/** Id that git would give to content as an object, in the hash algorithm of the entry's id. */
export function objectOf(content: Uint8Array, entry: string): string {
  const algorithm = entry.split(" ").at(-1)?.length === 64 ? "sha256" : "sha1";
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");
}
