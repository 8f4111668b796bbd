import { isUtf8 } from "node:buffer";
import { type BigIntStats, chmodSync, lstatSync, mkdirSync, readdirSync, unlinkSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { entryAt, modeOf, statIfPresent, withRights } from "@gennai/machine/entries/look-at-entry";
import { mountsIn } from "@gennai/machine/entries/mounts-in";
import { moveEntry } from "@gennai/machine/entries/move-entry";
import type { StageView } from "@gennai/machine/entries/stage-view";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { linkWhiteout } from "../transaction/whiteout.ts";
import { type CopiedEntry, type CopiedTree, seconds } from "./copied-tree.ts";
import type { ChangesOfCopy } from "./laid-changes.ts";

/**
 * What a command did to a copy, found by comparing it with the state in which it was made: everything that differs is moved to
 * `upper`, where an overlay would have it. Whether an entry changed is judged by its inode and its ctime, which no program can
 * set, or by its bytes where the file system's times cannot be trusted; the caller looks at what changed.
 */
export class ComparedCopy implements StageView {
  readonly canHide: boolean;
  /** A directory of the user can hold entries that were not copied, and mount points. */
  readonly canReplace = false;
  readonly dropped: string[] = [];
  readonly #root: string;
  readonly #directoryOfRun: string;
  readonly #copied: CopiedTree;
  readonly #upper: string;
  readonly #merged: string;
  /** Directories that are in `upper` only as parents of changed entries: their intended attributes. */
  readonly #ways = new Map<string, BigIntStats>();
  readonly #stats = new Map<string, BigIntStats>();
  /** By directory: names that it lacks and that have no whiteout. */
  readonly #gone = new Map<string, readonly string[]>();
  /** What went from directories that stayed. */
  readonly #removed: string[] = [];
  /** Entries still at the place they were copied to, changed or not. */
  readonly #stayed = new Set<string>();
  readonly #elsewhere: Set<string>;
  /** Entries that were moved to `upper`. */
  readonly #moved: string[] = [];

  /** @param canHide see `StageView` */
  constructor(root: StagedRoot, copied: CopiedTree, canHide: boolean) {
    this.#root = root.path;
    this.#directoryOfRun = root.directory;
    this.#elsewhere = new Set(copied.elsewhere);
    this.#copied = copied;
    this.canHide = canHide;
    this.#upper = join(root.directory, stageParts.upper);
    this.#merged = join(root.directory, stageParts.merged);
  }

  /** Whether the file at a path is another one than was copied, or was written. */
  async wrote(path: string): Promise<boolean> {
    const place = join(this.#merged, path);
    const [stat, was] = [statIfPresent(place), this.#copied.entries.get(path)];
    if (stat === undefined || was === undefined || was.inode !== stat.ino || was.bornNs !== stat.birthtimeNs)
      return true;
    return was.isDirectory || !(await this.#isAsCopied(place, was, stat));
  }

  /** Call it once, when no process of the command is left. */
  async compare(): Promise<void> {
    const stat = lstatSync(this.#merged, { bigint: true });
    this.#stats.set("", stat);
    this.#ways.set("", stat);
    for (const path of mountsIn(this.#root)) this.#elsewhere.add(path);
    await this.#directory("");
    this.#closeWays();
  }

  /** What `upper` does not say by itself, for a run that goes on with it. */
  get changes(): ChangesOfCopy {
    return { ways: [...this.#ways.keys()], gone: this.#removed };
  }

  /** Runs work while the copy is as the command left it, also when it was compared. */
  async asLeft<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#moved.length === 0) return work();
    const closed = [...new Set(this.#moved.map(parentOf))].flatMap((parent) => {
      const place = join(this.#merged, parent);
      const mode = modeOf(lstatSync(place, { bigint: true }));
      return (mode & 0o300) === 0o300 ? [] : [{ place, mode }];
    });
    const move = (from: string, to: string): void => {
      for (const { place, mode } of closed) chmodSync(place, mode | 0o300);
      for (const path of this.#ways.keys()) chmodSync(join(this.#upper, path), 0o700);
      for (const path of this.#moved) moveEntry(join(from, path), join(to, path));
      for (const { place, mode } of closed) chmodSync(place, mode);
    };
    move(this.#upper, this.#merged);
    try {
      return await work();
    } finally {
      move(this.#merged, this.#upper);
      this.#closeWays();
    }
  }

  /** Gives the parents of changed entries their attributes. */
  #closeWays(): void {
    // Deepest first: adding a name changes the time of its directory.
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
    return this.#gone.get(directory) ?? [];
  }

  /** Only for a file that has a single name now: a second name is not a move. */
  origin(path: string, upper: BigIntStats): bigint | undefined {
    const was = this.#byInode.get(upper.ino);
    if (was === undefined || was.path === path || was.entry.bornNs !== upper.birthtimeNs) return undefined;
    return this.#stayed.has(was.path) ? undefined : was.entry.from;
  }

  isElsewhere(path: string): boolean {
    if (this.#elsewhere.has(path)) return true;
    return [...path.matchAll(/\//g)].some(({ index }) => this.#elsewhere.has(path.slice(0, index)));
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

  /** Compares a directory that is still where it was copied to. */
  async #directory(path: string): Promise<void> {
    const place = join(this.#merged, path);
    const before = this.#copied.names.get(path) ?? [];
    await withRights(place, modeOf(this.#stats.get(path) ?? lstatSync(place, { bigint: true })), 0o700, async () => {
      const there = new Set<string>();
      for (const name of readdirSync(place, { encoding: "buffer" })) {
        await giveWay();
        // No name that is not UTF-8 was copied, so the command made it.
        if (!isUtf8(name)) await this.#moveUnnamed(path, name);
        else if (await this.#entry(below(path, String(name)))) there.add(String(name));
      }
      const gone = before.filter((name) => !there.has(name));
      if (!this.canHide) this.#gone.set(path, gone);
      this.#removed.push(...gone.map((name) => below(path, name)));
      for (const name of gone) {
        this.#makeWay(path);
        if (this.canHide) await linkWhiteout(join(this.#directoryOfRun, "whiteout"), join(this.#upper, path, name));
      }
    });
  }

  /** @returns false if the entry is dropped */
  async #entry(path: string): Promise<boolean> {
    const place = join(this.#merged, path);
    const stat = lstatSync(place, { bigint: true });
    if (this.#drops(place, path, stat)) return false;
    const was = this.#copied.entries.get(path);
    const isSame = was !== undefined && was.inode === stat.ino && was.bornNs === stat.birthtimeNs;
    if (isSame) this.#stayed.add(path);
    if (isSame && was.isDirectory && stat.isDirectory()) {
      this.#stats.set(path, stat);
      if (was.mode !== modeOf(stat)) this.#makeWay(path);
      await this.#directory(path);
      return true;
    }
    if (isSame && !was.isDirectory && (await this.#isAsCopied(place, was, stat))) return true;
    if (stat.isDirectory()) await this.#scrub(place, path, stat);
    this.#makeWay(parentOf(path));
    moveEntry(place, join(this.#upper, path));
    this.#moved.push(path);
    return true;
  }

  async #isAsCopied(place: string, was: CopiedEntry, stat: BigIntStats): Promise<boolean> {
    if (this.#copied.trustsTimes) return was.ctimeNs === stat.ctimeNs;
    if (was.mode !== modeOf(stat)) return false;
    // The target of a link cannot be changed in place.
    if (!stat.isFile()) return true;
    const now = await withRights(place, modeOf(stat), 0o400, () => entryAt(place, stat));
    return now.type === "file" && now.sha256 !== undefined && now.sha256 === was.sha256;
  }

  /**
   * Whether an entry is removed: pipes, sockets and devices, however they were made. One of them is the device that tells an
   * overlay that a name is gone (a whiteout), which any user may make.
   */
  #drops<Path extends string | Buffer>(place: Path, path: string, stat: BigIntStats): boolean {
    if (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) return false;
    unlinkSync(place);
    this.dropped.push(path);
    return true;
  }

  /** Drops such entries below a directory that was not copied, or was moved since. The directory then moves as a whole. */
  async #scrub<Path extends string | Buffer>(place: Path, path: string, stat: BigIntStats): Promise<void> {
    await withRights(place, modeOf(stat), 0o700, async () => {
      const there = new Set<string>();
      for (const name of readdirSync(place, { encoding: "buffer" })) {
        await giveWay();
        const at = Buffer.concat([Buffer.from(place), slash, name]);
        const entry = lstatSync(at, { bigint: true });
        const shown = below(path, name.toString());
        if (this.#drops(at, shown, entry)) continue;
        there.add(name.toString());
        if (entry.isDirectory()) await this.#scrub(at, shown, entry);
      }
      // A directory that was made anew needs no whiteouts for these.
      const gone = (this.#copied.names.get(path) ?? []).filter((name) => !there.has(name));
      this.#gone.set(path, gone);
    });
  }

  async #moveUnnamed(directory: string, name: Buffer): Promise<void> {
    const at = (top: string): Buffer => Buffer.concat([Buffer.from(join(top, directory)), slash, name]);
    const stat = lstatSync(at(this.#merged), { bigint: true });
    const shown = below(directory, name.toString());
    if (this.#drops(at(this.#merged), shown, stat)) return;
    if (stat.isDirectory()) await this.#scrub(at(this.#merged), shown, stat);
    this.#makeWay(directory);
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

const slash = Buffer.from("/");

function below(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === "." ? "" : parent;
}
