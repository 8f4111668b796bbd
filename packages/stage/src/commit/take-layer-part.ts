import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  type Stats,
  utimesSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { moveEntry } from "@gennai/machine/entries/move-entry";
import { namesInReal, openDirectory } from "@gennai/machine/entries/names-in";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { type TreeRecord, writePart } from "../layer/layer-files.ts";
import type { StageEffect } from "../observe/effect.ts";
import type { FoundLayerPart } from "../observe/layer-part.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { linkWhiteout } from "../transaction/whiteout.ts";

/**
 * Takes the part that goes into the session's layer out of what a command left, and makes it ready to be adopted. The overlay
 * must not be mounted any more; the remainder can be committed.
 */
export async function takeLayerPart(
  root: StagedRoot,
  part: FoundLayerPart,
  of: { readonly session: string; readonly command: string; readonly marker: bigint },
): Promise<void> {
  const taker = new Taker(root, new Set(part.uncovered));
  mkdirSync(taker.tree, { recursive: true, mode: 0o700 });
  for (const path of part.taken) await taker.take(path);
  for (const path of part.gone) await taker.hide(path);
  taker.finish();
  const { session, command, marker } = of;
  const at = new Date().toISOString();
  const trees = part.trees.map((path): TreeRecord => {
    const was = statIfPresent(join(root.path, path));
    return { path, command, at, marker: String(marker), was: was === undefined ? null : String(was.ino) };
  });
  const { path, device, inode } = root;
  writePart(join(root.directory, stageParts.layer), {
    version: 1,
    session,
    root: { path, device, inode } satisfies WorkspaceRoot,
    cleared: [...part.cleared],
    anew: [...part.anew],
    trees,
  });
}

/** Separates files of the workspace from files of the layer that are hard links to each other. */
export function cutHardLinks({ directory }: StagedRoot, effects: readonly StageEffect[]): void {
  for (const { path, flags, after } of effects) {
    if (after?.type !== "file" || !flags.includes("hard-link")) continue;
    const staged = join(directory, stageParts.upper, path);
    const { mode, atimeMs, mtimeMs } = lstatSync(staged);
    copyFileSync(staged, `${directory}/copy`);
    utimesSync(`${directory}/copy`, atimeMs / 1000, mtimeMs / 1000);
    chmodSync(`${directory}/copy`, mode & 0o7777);
    renameSync(`${directory}/copy`, staged);
  }
}

class Taker {
  readonly tree: string;
  readonly #root: StagedRoot;
  readonly #upper: string;
  readonly #uncovered: ReadonlySet<string>;
  /** Intended attributes of the directories created here. */
  readonly #likeness = new Map<string, Stats>();

  constructor(root: StagedRoot, uncovered: ReadonlySet<string>) {
    this.#root = root;
    this.#upper = join(root.directory, stageParts.upper);
    this.tree = join(root.directory, stageParts.layer, stageParts.layerTree);
    this.#uncovered = uncovered;
  }

  async take(path: string): Promise<void> {
    await giveWay();
    this.#makeWay(path);
    const from = join(this.#upper, path);
    openDirectory(dirname(from));
    if (this.#uncovered.has(path)) await this.#cover(path);
    else if (this.#leadsToUncovered(path)) await this.#split(path);
    else moveEntry(from, join(this.tree, path));
  }

  async hide(path: string): Promise<void> {
    this.#makeWay(path);
    await this.#hideIn(dirname(path), basename(path));
  }

  #hideIn(directory: string, name: string): Promise<void> {
    return linkWhiteout(join(this.#root.directory, "whiteout"), join(this.tree, directory, name));
  }

  /** Sets times and modes, deepest first: adding a name changes the time of its directory. */
  finish(): void {
    for (const [path, { atimeMs, mtimeMs, mode }] of [...this.#likeness].toReversed()) {
      utimesSync(join(this.tree, path), atimeMs / 1000, mtimeMs / 1000);
      chmodSync(join(this.tree, path), mode & 0o7777);
    }
  }

  /** Moves a directory into the layer that has, somewhere below, directories for `#cover`. */
  async #split(path: string): Promise<void> {
    await this.#remade(path, async (name) => {
      const below = `${path}/${name}`;
      if (this.#leadsToUncovered(below)) await this.#split(below);
      else if (this.#uncovered.has(below)) await this.#cover(below);
      else moveEntry(join(this.#upper, below), join(this.tree, below));
    });
  }

  /**
   * Moves a directory into the layer where no mark can hide the workspace's directory as a whole: creates it anew, and hides each
   * of the workspace's names in it.
   */
  async #cover(path: string): Promise<void> {
    const hidden = new Set(namesInReal(join(this.#root.path, path)));
    await this.#remade(path, async (name) => {
      hidden.delete(name);
      const below = `${path}/${name}`;
      const isBoth = [this.#upper, this.#root.path].every((top) => statIfPresent(join(top, below))?.isDirectory());
      if (isBoth) await this.#cover(below);
      else moveEntry(join(this.#upper, below), join(this.tree, below));
    });
    for (const name of hidden) await this.#hideIn(path, name);
  }

  /** Makes a directory like the one that the command left, and calls `bring` for each name in it. */
  async #remade(path: string, bring: (name: string) => Promise<void>): Promise<void> {
    const from = join(this.#upper, path);
    this.#likeness.set(path, lstatSync(from));
    openDirectory(from);
    mkdirSync(join(this.tree, path), { mode: 0o700 });
    for (const name of readdirSync(from)) {
      await giveWay();
      await bring(name);
    }
  }

  #leadsToUncovered(path: string): boolean {
    return [...this.#uncovered].some((one) => one.startsWith(`${path}/`));
  }

  #makeWay(path: string): void {
    const parent = dirname(path);
    if (parent === "." || this.#likeness.has(parent)) return;
    this.#makeWay(parent);
    mkdirSync(join(this.tree, parent), { mode: 0o700 });
    this.#likeness.set(parent, lstatSync(join(this.#upper, parent)));
  }
}
