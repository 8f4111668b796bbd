import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { isWhiteout, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import type { SessionLayer } from "./session-layer.ts";

/**
 * Applies a tree of a layer to a stage, as a command would: the workspace can then get it like the work of any command. The bytes
 * are copied, because the overlay's marks must not come into the workspace.
 *
 * @param merged path of the stage's view of the root; the layer is not mounted there
 * @param path of the tree
 */
export async function copyLayer(layer: SessionLayer, merged: string, path: string): Promise<void> {
  const parent = dirname(path);
  if (parent !== ".") mkdirSync(join(merged, parent), { recursive: true });
  await new Copy(layer, merged).entry(path);
}

class Copy {
  readonly #layer: SessionLayer;
  readonly #merged: string;

  constructor(layer: SessionLayer, merged: string) {
    this.#layer = layer;
    this.#merged = merged;
  }

  async entry(path: string): Promise<void> {
    await giveWay();
    const from = join(this.#layer.tree, path);
    const to = join(this.#merged, path);
    const stat = statIfPresent(from);
    if (stat === undefined) return;
    const there = lstatSync(to, { throwIfNoEntry: false });
    const isMerged = stat.isDirectory() && there?.isDirectory() === true && !this.#layer.isOpaque(path);
    if (there !== undefined && !isMerged) rmSync(to, { recursive: true, force: true });
    if (isWhiteout(stat)) return;
    if (stat.isSymbolicLink()) return symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
    const like = lstatSync(from);
    if (stat.isFile()) {
      copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      return lookLike(to, like);
    }
    // Other kinds of entries are dropped, as they are for commands.
    if (!stat.isDirectory()) return;
    if (isMerged) chmodSync(to, 0o700);
    else mkdirSync(to, { mode: 0o700 });
    for (const name of readdirSync(from)) await this.entry(`${path}/${name}`);
    lookLike(to, like);
  }
}

function lookLike(path: string, { atimeMs, mtimeMs, mode }: Stats): void {
  utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
  chmodSync(path, mode & 0o7777);
}
