import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** Files of the program itself: chunks, page, notices. Not what the machine adds, like compile caches. */
const part = /\.(mjs|cjs|js|css|html|svg|woff2|ttf|txt|wasm|md|json|yaml)$/;
const left = /^(node_modules|\..*)$/;

/**
 * SHA-256 of each file of the program, by path below `directory`, in order; links and dot files are left out. Empty when
 * there is no such directory.
 */
export async function releaseFiles(directory: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const path of (await pathsBelow(directory, "")).toSorted()) {
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(directory, path)), hash);
    files.set(path, hash.digest("hex"));
  }
  return files;
}

async function pathsBelow(root: string, below: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (left.test(entry.name)) return [];
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return pathsBelow(root, path);
      return entry.isFile() && part.test(entry.name) ? [path] : [];
    }),
  );
  return found.flat();
}
