import { createHash } from "node:crypto";
import { join } from "node:path";
import { readObjects } from "@gennai/git/read-objects";
import { git } from "@gennai/git/run/run-git";
import { FileBlobStore } from "@gennai/store/sqlite/file-blob-store";

/** Contents larger than this are not looked into, in bytes. */
const maxBytes = 1024 * 1024;
/** What of a repository is read at most. */
const mostObjects = 50_000;

/**
 * Contents by their SHA-256, from wherever they still exist: the state directory, or anything git has of these paths on any
 * branch. It does not matter who made a content: its hash is the one that a record signed. Leaves out contents that are binary,
 * too large or missing.
 */
export async function keptContents(
  wanted: ReadonlySet<string>,
  from: { readonly stateDir?: string | undefined; readonly workspaceRoot: string; readonly paths: ReadonlySet<string> },
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (from.stateDir !== undefined) {
    const blobs = new FileBlobStore(join(from.stateDir, "blobs"));
    for (const sha256 of wanted) {
      const bytes = await blobs.get(sha256).catch(() => undefined);
      const text = bytes && textOf(bytes);
      if (text !== undefined) found.set(sha256, text);
    }
  }
  const missing = new Set([...wanted].filter((sha256) => !found.has(sha256)));
  if (missing.size > 0) await readRepository(from.workspaceRoot, from.paths, missing, found);
  return found;
}

/** Adds git's contents. Adds nothing without a repository, or if git cannot read it. */
async function readRepository(
  directory: string,
  paths: ReadonlySet<string>,
  missing: Set<string>,
  found: Map<string, string>,
): Promise<void> {
  const ids = await blobIds(directory, paths).catch(() => []);
  await readObjects(directory, ids, (_, bytes) => {
    takeBlob(bytes, missing, found);
    return missing.size === 0;
  });
}

/** Objects of these paths in the repository, on any branch and before any rewriting that it remembers. */
async function blobIds(directory: string, paths: ReadonlySet<string>): Promise<readonly string[]> {
  const log = ["log", "--all", "--reflog", "--no-renames", "--raw", "--no-abbrev", "--format=", "-m", "-z"];
  const places = [...paths].map((path) => `:(literal)${path}`);
  const { stdout, code } = await git([...log, "--", ...places], { directory });
  if (code !== 0) return [];
  const ids = new Set<string>();
  for (const word of stdout.split("\0")) {
    const [oldMode = "", , before = "", after = ""] = word.split(" ");
    if (!oldMode.startsWith(":")) continue;
    for (const id of [before, after]) if (/^[0-9a-f]{40,64}$/.test(id) && !/^0+$/.test(id)) ids.add(id);
    if (ids.size > mostObjects) break;
  }
  return [...ids];
}

function takeBlob(bytes: Buffer, missing: Set<string>, found: Map<string, string>): void {
  const text = textOf(bytes);
  if (text === undefined) return;
  // If git converts line ends, the committed bytes differ from the written ones.
  for (const each of text.includes("\r") ? [text] : [text, text.replaceAll("\n", "\r\n")]) {
    const sha256 = createHash("sha256").update(each).digest("hex");
    if (missing.delete(sha256)) found.set(sha256, each);
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > maxBytes || bytes.includes(0)) return undefined;
  return Buffer.from(bytes).toString("utf8");
}
