import {
  type BigIntStats,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  statfsSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { entryAt, isWhiteout, modeOf, statIfPresent, withRights } from "@gennai/machine/entries/look-at-entry";
import { mountsIn } from "@gennai/machine/entries/mounts-in";
import { isClosed, namesIn, targetOf, unnamedIn, wentAway } from "@gennai/machine/entries/read-to-copy";
import { type StatData, statDataOf } from "@gennai/machine/git-data/restat-index";
import { type HeldDirectory, holdDirectory } from "@gennai/machine/workspace/files/held-directory";
import type { CoveredRoot } from "../cover/covered-roots.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { type CopyBudget, spend } from "./copy-budget.ts";

/** An entry of a copy as it was created, and its source. */
export interface CopiedEntry {
  readonly inode: bigint;
  readonly bornNs: bigint;
  readonly ctimeNs: bigint;
  readonly mode: number;
  readonly isDirectory: boolean;
  /** For a file, where its ctime cannot be trusted: SHA-256, lower-case hex. */
  readonly sha256?: string | undefined;
  /** Inode of the source; undefined if the command sees something else than the source. */
  readonly from: bigint | undefined;
  /** For a file or link that is an exact copy: how git's index identifies the source, and the copy. */
  readonly known?: { readonly from: StatData; readonly to: StatData } | undefined;
}

/** What was copied of a root. Paths are relative to it, with `/`; the root's own is empty. */
export interface CopiedTree {
  readonly entries: ReadonlyMap<string, CopiedEntry>;
  /** Names in each directory. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  /** Mount points, and entries on other file systems. */
  readonly elsewhere: readonly string[];
  /** Entries with names that are not UTF-8: they are not copied either. U+FFFD stands for what is not. */
  readonly unnamed: readonly string[];
  /** Entries not copied because they could not be read, hold no bytes, or are new secrets: they are hidden from the command. */
  readonly unread: readonly string[];
  /** True if every change of an entry shows in its ctime. */
  readonly trustsTimes: boolean;
  /** Changes a copied file before a command sees it, and notes its new state. @param work gets the path of the copy */
  change(path: string, work: (place: string) => void): Promise<void>;
}

/**
 * Makes a private copy of everything that a command may see of a root: none of it is linked to the user's files. Hidden files
 * are left out, and so are sockets, pipes, devices and names that are not UTF-8.
 *
 * Throws `StageUnavailable`, and system errors.
 */
export async function copyRoot(staged: StagedRoot, covered: CoveredRoot, budget: CopyBudget): Promise<CopiedTree> {
  return new Copier(staged, covered, budget).copy();
}

class Copier implements CopiedTree {
  readonly entries = new Map<string, CopiedEntry>();
  readonly names = new Map<string, string[]>();
  readonly elsewhere: string[];
  readonly unread: string[] = [];
  readonly unnamed: string[] = [];
  readonly trustsTimes: boolean;
  readonly #root: StagedRoot;
  readonly #covered: CoveredRoot;
  readonly #budget: CopyBudget;
  readonly #hidden: ReadonlySet<string>;
  readonly #given: ReadonlyMap<string, Uint8Array>;
  /** The attributes that the copied directories are to get. */
  readonly #directories = new Map<string, BigIntStats>();

  constructor(root: StagedRoot, covered: CoveredRoot, budget: CopyBudget) {
    this.#root = root;
    this.#covered = covered;
    this.#budget = budget;
    this.#hidden = new Set(covered.covered.hidden);
    this.elsewhere = [...mountsIn(root.path)];
    this.trustsTimes = timesAreTrue(root.directory);
    const { copies, index } = covered.covered;
    this.#given = index === undefined ? copies : new Map([...copies, [index.path, index.bytes]]);
  }

  async copy(): Promise<CopiedTree> {
    await this.#directory("", { real: true, layered: this.#covered.layer !== undefined });
    return this;
  }

  async change(path: string, work: (place: string) => void): Promise<void> {
    work(this.#placeOf(path));
    this.#note(path, { from: undefined, sha256: this.trustsTimes ? undefined : await this.#digest(path) });
  }

  async #directory(path: string, shows: Layers): Promise<void> {
    for (const each of await this.#entries(path, shows)) await this.#directory(each.path, each);
    const stat = this.#directories.get(path);
    // Only now: adding a name changes the time of a directory.
    if (stat !== undefined) look(this.#placeOf(path), stat);
  }

  /**
   * Copies the entries of a directory, without the content of its subdirectories, which it creates. @returns those subdirectories
   */
  async #entries(path: string, shows: Layers): Promise<readonly (Layers & { readonly path: string })[]> {
    const inside: (Layers & { readonly path: string })[] = [];
    const names: string[] = [];
    this.names.set(path, names);
    using held = shows.real ? this.#hold(path) : undefined;
    const layer = shows.layered ? join(this.#covered.layer?.tree ?? "", path) : undefined;
    const inLayer = new Set(layer === undefined ? [] : namesIn(layer));
    const inReal = held === undefined ? [] : namesIn(held.path);
    const unnamed = held === undefined ? [] : unnamedIn(held.path);
    this.unnamed.push(...unnamed.map((name) => (path === "" ? name : `${path}/${name}`)));
    // Secrets saved since the root was examined.
    const secret = new Set(this.#covered.covered.hiddenSince?.(path, inReal));
    for (const name of new Set([...inReal, ...inLayer])) {
      await giveWay();
      const below = path === "" ? name : `${path}/${name}`;
      if (secret.has(name)) this.unread.push(below);
      if (secret.has(name) || this.#hidden.has(below)) continue;
      const over = layer === undefined || !inLayer.has(name) ? undefined : statIfPresent(join(layer, name));
      if (over !== undefined && isWhiteout(over)) continue;
      const real = held === undefined ? undefined : this.#statOf(held, name, below);
      const stat = over ?? real;
      if (stat === undefined) continue;
      spend(this.#budget, this.#root.path, stat.isFile() ? Number(stat.size) : 0);
      const source = over === undefined ? { held, name } : { path: join(layer ?? "", name) };
      if (stat.isDirectory()) {
        const isOpaque = over !== undefined && this.#covered.layer?.isOpaque(below) === true;
        this.#makeDirectory(below, stat);
        inside.push({ path: below, real: real?.isDirectory() === true && !isOpaque, layered: over !== undefined });
        if (real !== undefined && Number(real.dev) !== this.#root.device) this.elsewhere.push(below);
      } else if (!(await this.#entry(below, stat, source))) continue;
      names.push(name);
    }
    return inside;
  }

  /** Undefined if the directory was removed or closed since it was listed: then it is not copied. */
  #hold(path: string): HeldDirectory | undefined {
    try {
      return holdDirectory(this.#root, path === "" ? [] : path.split("/"));
    } catch (error) {
      if (path === "" || !(wentAway(error) || isClosed(error))) throw error;
      if (isClosed(error)) this.unread.push(path);
      return undefined;
    }
  }

  /** Undefined if the entry is gone, or may not be looked at. */
  #statOf(held: HeldDirectory, name: string, path: string): BigIntStats | undefined {
    try {
      return statIfPresent(held.entry(name));
    } catch (error) {
      if (isClosed(error)) this.unread.push(path);
      else if (!wentAway(error)) throw error;
      return undefined;
    }
  }

  #makeDirectory(path: string, stat: BigIntStats): void {
    mkdirSync(this.#placeOf(path), { mode: 0o700 });
    this.#directories.set(path, stat);
    this.#note(path, { from: stat, mode: modeOf(stat) });
  }

  /** @returns false if the entry is left out */
  async #entry(path: string, stat: BigIntStats, source: Source): Promise<boolean> {
    const place = this.#placeOf(path);
    const given = this.#given.get(path);
    let was = stat;
    if (stat.isSymbolicLink()) {
      const target = targetOf(pathOf(source));
      if (target === undefined) return false;
      symlinkSync(target, place);
      lutimesSync(place, seconds(stat.atimeNs), seconds(stat.mtimeNs));
    } else if (given !== undefined) {
      writeFileSync(place, given, { mode: 0o600, flag: "wx" });
      look(place, stat);
    } else if (!stat.isFile()) {
      // An entry that cannot be copied stays where it is, whatever happens around it.
      this.unread.push(path);
      return false;
    } else {
      const copied = await this.#file(path, source);
      if (copied === undefined) return false;
      was = copied;
    }
    const sha256 = this.trustsTimes || stat.isSymbolicLink() ? undefined : await this.#digest(path);
    this.#note(path, { from: given === undefined ? was : undefined, sha256 });
    return true;
  }

  /** Copies the held file, even if its path leads to another one by now. @returns its attributes; undefined if it is left out */
  async #file(path: string, source: Source): Promise<BigIntStats | undefined> {
    let descriptor: number;
    try {
      descriptor = openSync(pathOf(source), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (isClosed(error)) this.unread.push(path);
      else if (!wentAway(error)) throw error;
      return undefined;
    }
    try {
      const stat = fstatSync(descriptor, { bigint: true });
      if (!stat.isFile()) return undefined;
      const place = this.#placeOf(path);
      const [held, how] = [
        `/proc/self/fd/${descriptor}`,
        constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE,
      ] as const;
      if (stat.size > smallBytes) await copyFile(held, place, how);
      else copyFileSync(held, place, how);
      ownIt(place);
      look(place, stat);
      return stat;
    } catch (error) {
      if (wentAway(error)) return undefined;
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }

  /** SHA-256 of a file, read while its mode lets its owner read it. */
  async #digest(path: string): Promise<string | undefined> {
    const place = this.#placeOf(path);
    const stat = lstatSync(place, { bigint: true });
    const entry = await withRights(place, modeOf(stat), 0o400, () => entryAt(place, stat));
    return entry.type === "file" ? entry.sha256 : undefined;
  }

  #note(
    path: string,
    {
      from,
      mode,
      sha256,
    }: { readonly from: BigIntStats | undefined; readonly mode?: number; readonly sha256?: string | undefined },
  ): void {
    const stat = lstatSync(this.#placeOf(path), { bigint: true });
    const isDirectory = stat.isDirectory();
    this.entries.set(path, {
      inode: stat.ino,
      bornNs: stat.birthtimeNs,
      ctimeNs: stat.ctimeNs,
      mode: mode ?? modeOf(stat),
      isDirectory,
      sha256,
      from: from?.ino,
      known: from === undefined || isDirectory ? undefined : { from: statDataOf(from), to: statDataOf(stat) },
    });
  }

  #placeOf(path: string): string {
    return join(this.#root.directory, stageParts.merged, path);
  }
}

/** Which of the layers over each other have a directory that shows. */
interface Layers {
  /** The workspace's. */
  readonly real: boolean;
  /** That of the session's layer. */
  readonly layered: boolean;
}

type Source = { readonly held: HeldDirectory | undefined; readonly name: string } | { readonly path: string };

function pathOf(source: Source): string {
  return "path" in source ? source.path : (source.held?.entry(source.name) ?? "");
}

/** Copying this much takes less time than waiting for another thread, above all on a busy machine. */
const smallBytes = 1024n * 1024n;

/**
 * Makes this process's user and group the owners: a copy by the system can keep the source's, and commands have no other user or
 * group.
 */
function ownIt(path: string): void {
  const user = process.geteuid?.() ?? 0;
  const group = process.getegid?.() ?? 0;
  const { uid, gid } = lstatSync(path);
  if (uid !== user || gid !== group) chownSync(path, user, group);
}

/** Sets mode and times. */
function look(path: string, stat: BigIntStats): void {
  utimesSync(path, seconds(stat.atimeNs), seconds(stat.mtimeNs));
  chmodSync(path, modeOf(stat));
}

/** Seconds, with the precision that `utimes` keeps, of a time in nanoseconds. */
export function seconds(ns: bigint): number {
  return Number(ns / 1000n) / 1e6;
}

/** Numbers of file systems in the kernel (`statfs(2)`): ext2 to 4, xfs, btrfs, NFS. */
const withTrueTimes: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x6969]);

/**
 * Whether every change of a file shows in its ctime, on the file system of `path`. In memory (tmpfs) it does not: writing through
 * a mapping changes no time.
 */
function timesAreTrue(path: string): boolean {
  return withTrueTimes.has(statfsSync(path).type);
}
