import { isUtf8 } from "node:buffer";
import { type BigIntStats, chmodSync, lstatSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CopiedEntry, type CopiedTree, seconds } from "./copied-tree.ts";
import { giveWay } from "./give-way.ts";
import { linkWhiteout } from "./lay-mask.ts";
import { modeOf, statIfPresent, withRights } from "./look-at-entry.ts";
import { moveEntry } from "./move-entry.ts";
import type { StageView } from "./stage-view.ts";
import { type StagedRoot, stageParts } from "./staging-place.ts";

/**
 * What a command did to a copy, found by comparing it with how it was made: all that is not as it was is moved to `upper`,
 * where an overlay would have it. What an entry is now is judged by its inode and by the time of its last change, which no
 * program can set; bytes are compared by whoever looks at what is there.
 */
export class ComparedCopy implements StageView {
  readonly canHide: boolean;
  readonly #directoryOfRun: string;
  readonly #copied: CopiedTree;
  readonly #upper: string;
  readonly #merged: string;
  /** Directories that stand in `upper` only because of what is in them: how they are to look. */
  readonly #ways = new Map<string, BigIntStats>();
  readonly #stats = new Map<string, BigIntStats>();

  /** @param canHide see `StageView` */
  constructor(root: StagedRoot, copied: CopiedTree, canHide: boolean) {
    this.#directoryOfRun = root.directory;
    this.#copied = copied;
    this.canHide = canHide;
    this.#upper = join(root.directory, stageParts.upper);
    this.#merged = join(root.directory, stageParts.merged);
  }

  /** When no process of the command is there any more. Once. */
  async compare(): Promise<void> {
    const stat = lstatSync(this.#merged, { bigint: true });
    this.#stats.set("", stat);
    this.#ways.set("", stat);
    await this.#directory("");
    // Deepest first: to add a name changes the time of its directory.
    for (const [path, { atimeNs, mtimeNs, mode }] of [...this.#ways].toReversed()) {
      const place = join(this.#upper, path);
      utimesSync(place, seconds(atimeNs), seconds(mtimeNs));
      chmodSync(place, Number(mode & 0o7777n));
    }
  }

  at(path: string): string {
    const upper = join(this.#upper, path);
    return statIfPresent(upper) === undefined ? join(this.#merged, path) : upper;
  }

  isAnew(path: string): boolean {
    return path !== "" && !this.#ways.has(path);
  }

  goneIn(directory: string): readonly string[] {
    const names = this.#copied.names.get(directory) ?? [];
    return names.filter(
      (name) => statIfPresent(this.at(directory === "" ? name : `${directory}/${name}`)) === undefined,
    );
  }

  /** Only of what stands nowhere else any more: a second name of a file is no move. */
  origin(path: string, upper: BigIntStats): bigint | undefined {
    const was = this.#byInode.get(upper.ino);
    if (was === undefined || was.path === path || was.entry.bornNs !== upper.birthtimeNs) return undefined;
    return statIfPresent(this.at(was.path))?.ino === upper.ino ? undefined : was.entry.from;
  }

  isElsewhere(path: string): boolean {
    return this.#copied.elsewhere.some((one) => path === one || path.startsWith(`${one}/`));
  }

  #inodes: ReadonlyMap<bigint, { readonly path: string; readonly entry: CopiedEntry }> | undefined;

  get #byInode() {
    this.#inodes ??= new Map(
      [...this.#copied.entries]
        .filter(([, entry]) => !entry.isDirectory)
        .map(([path, entry]) => [entry.inode, { path, entry }]),
    );
    return this.#inodes;
  }

  /** Of one that stands where it was copied to. */
  async #directory(path: string): Promise<void> {
    const place = join(this.#merged, path);
    await withRights(place, modeOf(this.#stats.get(path) ?? lstatSync(place, { bigint: true })), 0o700, async () => {
      for (const name of readdirSync(place, { encoding: "buffer" })) {
        await giveWay();
        if (isUtf8(name)) await this.#entry(path === "" ? String(name) : `${path}/${String(name)}`);
        // None was copied.
        else this.#moveUnnamed(path, name);
      }
    });
    for (const name of this.goneIn(path)) {
      this.#makeWay(path);
      if (this.canHide) await linkWhiteout(join(this.#directoryOfRun, "whiteout"), join(this.#upper, path, name));
    }
  }

  async #entry(path: string): Promise<void> {
    const place = join(this.#merged, path);
    const stat = lstatSync(place, { bigint: true });
    const was = this.#copied.entries.get(path);
    const isSame = was !== undefined && was.inode === stat.ino && was.bornNs === stat.birthtimeNs;
    if (isSame && was.isDirectory && stat.isDirectory()) {
      this.#stats.set(path, stat);
      if (was.mode !== modeOf(stat)) this.#makeWay(path);
      return this.#directory(path);
    }
    if (isSame && !was.isDirectory && was.ctimeNs === stat.ctimeNs) return;
    this.#makeWay(parentOf(path));
    moveEntry(place, join(this.#upper, path));
  }

  #moveUnnamed(directory: string, name: Buffer): void {
    this.#makeWay(directory);
    const at = (top: string): Buffer => Buffer.concat([Buffer.from(`${join(top, directory)}/`), name]);
    moveEntry(at(this.#merged), at(this.#upper));
  }

  #makeWay(path: string): void {
    if (this.#ways.has(path)) return;
    this.#makeWay(parentOf(path));
    mkdirSync(join(this.#upper, path), { mode: 0o700 });
    const stat = this.#stats.get(path);
    if (stat !== undefined) this.#ways.set(path, stat);
  }
}

function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === "." ? "" : parent;
}
