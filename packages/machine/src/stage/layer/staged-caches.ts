import { hash } from "node:crypto";
import { accessSync, type BigIntStats, chmodSync, constants, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { holdsShims } from "../../sandbox/host/host-layout.ts";
import { systemErrorCode } from "../../system-error.ts";
import { giveWay } from "../files/give-way.ts";
import { isWhiteout, statIfPresent } from "../files/look-at-entry.ts";
import { moveEntry } from "../files/move-entry.ts";
import { removeTree } from "../files/remove-tree.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";

/**
 * A cache of a package manager, below the user's home. A run finds what is in it and writes as usual, which goes into an overlay
 * that is never looked at. It goes with the run; what a run with a network fetched stays for the session, but for shims.
 */
export interface StagedCache {
  /** Of the user's directory, which may not be there. */
  readonly path: string;
  /** The user's directory, or an empty one. */
  readonly below: string;
  /** What runs of the session fetched, over it. */
  readonly kept: string | undefined;
  /** Private directory that holds `upper`, `work` and `merged`; `merged` is not there where no overlay could be made. */
  readonly directory: string;
}

export interface CacheSources {
  /** Directory in which a session keeps what its runs fetched. */
  readonly kept?: string | undefined;
  /** Also those that nobody has yet: for a run that fetches. */
  readonly all?: boolean;
}

/** A cache that a run finds. */
export interface FoundCache {
  readonly path: string;
  /** The user has it. */
  readonly isThere: boolean;
  /** Directory of what runs of the session fetched. */
  readonly fetched: string | undefined;
}

/** @param paths of directories that may be there */
export function findCaches(paths: readonly string[], { kept, all = false }: CacheSources = {}): readonly FoundCache[] {
  return paths.flatMap((path) => {
    const isThere = isDirectory(path);
    const own = kept === undefined || holdsShims(path) ? undefined : join(kept, nameOf(path));
    const fetched = own !== undefined && isDirectory(own) ? own : undefined;
    return isThere || fetched !== undefined || all ? [{ path, isThere, fetched }] : [];
  });
}

/** Where a run has them: nothing is made yet. */
export function placeCaches(root: StagedRoot, found: readonly FoundCache[]): readonly StagedCache[] {
  return found.map(({ path, isThere, fetched }, index) => {
    const directory = join(root.directory, stageParts.caches, String(index));
    return { path, below: isThere ? path : join(directory, "none"), kept: fetched, directory };
  });
}

/** Makes their directories, where an earlier run did not. */
export function makeCaches(caches: readonly StagedCache[]): void {
  for (const { directory, below } of caches) {
    if (isDirectory(directory)) continue;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const part of [stageParts.upper, stageParts.work, stageParts.merged])
      mkdirSync(join(directory, part), { mode: 0o700 });
    if (dirname(below) === directory) mkdirSync(below, { mode: 0o700 });
  }
}

/** What a run had written into caches by then: by path, what tells whether it is still the same. */
export type CacheEntries = ReadonlyMap<string, string>;

/** What cannot be looked at is left out. No process of the run may be there. */
export async function listEntries(caches: readonly StagedCache[]): Promise<CacheEntries> {
  const entries = new Map<string, string>();
  const waiting = caches.map(upperOf);
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    try {
      for (const name of readdirSync(directory)) {
        await giveWay();
        const path = join(directory, name);
        const stat = statIfPresent(path);
        if (stat === undefined) continue;
        entries.set(path, stateOf(stat));
        if (stat.isDirectory()) waiting.push(path);
      }
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
    }
  }
  return entries;
}

/** Removes what was written into caches, or changed there, since it was listed. They are not mounted any more. */
export async function removeLater(caches: readonly StagedCache[], listed: CacheEntries): Promise<void> {
  const waiting = caches.map(upperOf);
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const name of readdirSync(directory)) {
      await giveWay();
      const path = join(directory, name);
      const stat = statIfPresent(path);
      if (stat !== undefined && listed.get(path) === stateOf(stat)) {
        if (stat.isDirectory()) waiting.push(path);
        continue;
      }
      openDirectory(directory);
      await removeTree(path);
    }
  }
}

/** Of a directory, the time changes with what is in it. No command can set the time of a change. */
function stateOf(stat: BigIntStats): string {
  return stat.isDirectory() ? `directory ${stat.ino}` : `${stat.ino} ${stat.ctimeNs}`;
}

/**
 * Moves what a run wrote into caches to those that its session keeps. What it removed of the user's comes back: a cache has
 * more than is wanted, and never less.
 *
 * @param kept directory, on the same file system
 * @returns whether there was anything
 */
export async function keepCaches(caches: readonly StagedCache[], kept: string): Promise<boolean> {
  let any = false;
  for (const { path, directory } of caches) {
    if (holdsShims(path)) continue;
    const upper = upperOf({ directory });
    if (readdirSync(upper).length === 0) continue;
    any = true;
    const into = join(kept, nameOf(path));
    mkdirSync(into, { recursive: true, mode: 0o700 });
    await moveInto(into, upper);
  }
  return any;
}

async function moveInto(into: string, from: string): Promise<void> {
  openDirectory(into);
  for (const name of readdirSync(from)) {
    await giveWay();
    const [source, target] = [join(from, name), join(into, name)];
    const [stat, standing] = [statIfPresent(source), statIfPresent(target)];
    // A name that is not UTF-8.
    if (stat === undefined) continue;
    if (stat.isDirectory() && standing?.isDirectory()) {
      openDirectory(source);
      await moveInto(target, source);
      continue;
    }
    await removeTree(target);
    if (!isWhiteout(stat)) moveEntry(source, target);
  }
}

function openDirectory(path: string): void {
  const mode = lstatSync(path).mode & 0o7777;
  if ((mode & 0o700) !== 0o700) chmodSync(path, mode | 0o700);
}

function upperOf({ directory }: Pick<StagedCache, "directory">): string {
  return join(directory, stageParts.upper);
}

/** That can be read. */
function isDirectory(path: string): boolean {
  if (statIfPresent(path)?.isDirectory() !== true) return false;
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function nameOf(path: string): string {
  return hash("sha256", path).slice(0, 24);
}
