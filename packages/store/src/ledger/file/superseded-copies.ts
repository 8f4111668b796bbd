import { lstat, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ifMissing } from "@gennai/machine/system-error";
import { chunksOf, readExactly, recoveredCopies } from "./ledger-mirror-file.ts";

/**
 * Removes each kept copy of a ledger's file that is the beginning of another kept copy, byte for byte. What only one copy has
 * stays. The caller ensures that nobody makes copies of this ledger meanwhile.
 */
export async function removeSupersededCopies(stateDir: string, workspaceRoot: string): Promise<void> {
  const { directory, prefix } = recoveredCopies(stateDir, workspaceRoot);
  const copies: { readonly path: string; readonly size: number }[] = [];
  for (const name of await readdir(directory).catch(ifMissing([]))) {
    if (!name.startsWith(prefix)) continue;
    const path = join(directory, name);
    const stat = await lstat(path);
    if (stat.isFile()) copies.push({ path, size: stat.size });
  }
  // Names contain the time: of equal copies the newest stays.
  copies.sort((one, other) => other.size - one.size || (one.path < other.path ? 1 : -1));
  const kept: string[] = [];
  for (const { path } of copies) {
    if (await isBeginningOfOne(path, kept)) await rm(path);
    else kept.push(path);
  }
}

async function isBeginningOfOne(path: string, kept: readonly string[]): Promise<boolean> {
  for (const longer of kept) if (await isBeginning(path, longer)) return true;
  return false;
}

async function isBeginning(path: string, longer: string): Promise<boolean> {
  await using one = await open(path, "r");
  await using other = await open(longer, "r");
  let at = 0;
  for await (const chunk of chunksOf(one)) {
    const same = await readExactly(other, at, chunk.length);
    if (Buffer.compare(chunk, same) !== 0) return false;
    at += chunk.length;
  }
  return true;
}
