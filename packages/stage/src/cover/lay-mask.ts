import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { lookLike } from "@gennai/machine/entries/look-like";
import { type LayeredRoot, stageParts } from "../transaction/staged-root.ts";
import { linkWhiteout } from "../transaction/whiteout.ts";
import type { Covered } from "./covered-tree.ts";

/**
 * Makes the layer that lies over a root: a whiteout for each hidden path, a copy for each file with logins, and directories
 * on the way to them that look like the real ones. Throws `StageUnavailable` (`no_whiteouts`).
 */
export async function layMask(root: LayeredRoot, covered: Covered): Promise<void> {
  const mask = join(root.directory, stageParts.mask);
  const whiteout = join(root.directory, "whiteout");
  const ways = new Set<string>();
  const makeWay = (path: string): void => {
    const parent = dirname(path);
    if (parent === "." || ways.has(parent)) return;
    makeWay(parent);
    mkdirSync(join(mask, parent), { mode: 0o700 });
    ways.add(parent);
  };
  for (const path of covered.hidden) {
    await giveWay();
    makeWay(path);
    await linkWhiteout(whiteout, join(mask, path));
  }
  for (const path of covered.unnamed ?? []) {
    makeWay(path.toString());
    await linkWhiteout(whiteout, Buffer.concat([Buffer.from(`${mask}/`), path]));
  }
  const { index } = covered;
  const copies = new Map(covered.copies);
  if (index !== undefined) copies.set(index.path, index.bytes);
  for (const [path, bytes] of copies) {
    makeWay(path);
    writeFileSync(join(mask, path), bytes, { mode: 0o600 });
    lookLike(realIn(root, path), join(mask, path));
  }
  // Deepest first: adding a name changes the time of its directory.
  for (const path of [...ways].toReversed()) lookLike(realIn(root, path), join(mask, path));
  for (const part of [stageParts.mask, stageParts.upper] as const) lookLike(root.path, join(root.directory, part));
}

/** Where the command would find the entry without the mask: in the layer, or in the workspace. */
function realIn({ path: root, layer }: LayeredRoot, path: string): string {
  const layered = layer === undefined ? undefined : join(layer, path);
  return layered !== undefined && existsSync(layered) ? layered : join(root, path);
}
