import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { entryAt, isWhiteout, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import type { LayeredTree } from "@gennai/protocol/model/session/layer";

/** Size and digest of a tree of a layer. */
export type LayerSummary = Pick<LayeredTree, "files" | "bytes" | "removed" | "sha256">;

/** @param tree absolute path of the tree in the layer */
export async function summariseTree(tree: string): Promise<LayerSummary> {
  const digest = createHash("sha256");
  let files = 0;
  let bytes = 0;
  let removed = 0;
  const look = async (below: string): Promise<void> => {
    await giveWay();
    const path = join(tree, below);
    const stat = statIfPresent(path);
    if (stat === undefined) return;
    if (isWhiteout(stat)) removed += 1;
    else if (!stat.isDirectory()) files += 1;
    if (stat.isFile()) bytes += Number(stat.size);
    digest.update(`${JSON.stringify([below, isWhiteout(stat) ? "removed" : await entryAt(path, stat)])}\n`);
    if (!stat.isDirectory()) return;
    for (const name of readdirSync(path).toSorted()) await look(below === "" ? name : `${below}/${name}`);
  };
  await look("");
  return { files, bytes, removed, sha256: digest.digest("hex") };
}
