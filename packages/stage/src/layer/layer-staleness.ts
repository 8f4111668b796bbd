import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import type { TreeRecord } from "./layer-files.ts";

/** Up to this number of entries, all entries that a tree covers in the workspace are looked at; beyond it, only directories. */
const maxFiles = 5_000;

/**
 * Whether others changed in the workspace what a tree of the layer covers: removed or created it, or added, removed or wrote
 * files where the layer has some. What shows through the layer may change.
 */
export function isStale(
  { root, base }: { readonly root: string; readonly base: string },
  { path, marker, was }: Pick<TreeRecord, "path" | "marker" | "was">,
): boolean {
  const real = statIfPresent(join(root, path));
  if ((real === undefined ? null : String(real.ino)) !== was) return true;
  if (real === undefined) return statIfPresent(dirname(join(root, path))) === undefined;
  const since = BigInt(marker);
  if (real.ctimeNs >= since) return true;
  let files = 0;
  const waiting = [path];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of entriesIn(join(base, directory))) {
      const below = join(directory, entry.name);
      files += entry.isDirectory() ? 0 : 1;
      if (!entry.isDirectory() && files > maxFiles) continue;
      const there = statIfPresent(join(root, below));
      if (there === undefined) continue;
      if (there.ctimeNs >= since) return true;
      if (entry.isDirectory() && there.isDirectory()) waiting.push(below);
    }
  }
  return false;
}

function entriesIn(directory: string) {
  return statIfPresent(directory)?.isDirectory() ? readdirSync(directory, { withFileTypes: true }) : [];
}
