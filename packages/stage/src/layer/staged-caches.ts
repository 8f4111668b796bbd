import { hash } from "node:crypto";
import { accessSync, type BigIntStats, constants, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { isWhiteout, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { moveEntry } from "@gennai/machine/entries/move-entry";
import { openDirectory } from "@gennai/machine/entries/names-in";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { holdsShims } from "@gennai/machine/host/host-layout";
import { systemErrorCode } from "@gennai/machine/system-error";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";

/**
 * A cache of a package manager, below the user's home. A run reads it and writes to it as usual; the writes go into an overlay
 * that is never examined and is removed after the run. What a run with a network fetched stays for the session, except shims.
 */
export interface StagedCache {
  /** Path of the user's directory, which may not exist. */
  readonly path: string;
  /** The user's directory, or an empty one. */
  readonly below: string;
  /** Directory of what runs of the session fetched; it lies over `below`. */
  readonly kept: string | undefined;
  /** Private directory that holds `upper`, `work` and `merged`; `merged` is not there where no overlay could be made. */
  readonly directory: string;
}

export interface CacheSources {
  /** Directory in which a session keeps what its runs fetched. */
  readonly kept?: string | undefined;
  /** True to include caches that do not exist yet: for a run that fetches. */
  readonly all?: boolean;
  /** Whether the run sees nothing of what the session keeps in a cache. */
  readonly ownIn?: (path: string) => boolean;
}

/** A cache that a run finds. */
export interface FoundCache {
  readonly path: string;
  /** Whether the user has it. */
  readonly isThere: boolean;
  /** Directory of what runs of the session fetched into it. */
  readonly fetched: string | undefined;
}

/** @param paths of the caches' directories, which need not exist */
export function findCaches(
  paths: readonly string[],
  { kept, all = false, ownIn = () => false }: CacheSources = {},
): readonly FoundCache[] {
  return paths.flatMap((path) => {
    const isThere = isDirectory(path);
    const own = kept === undefined || holdsShims(path) || ownIn(path) ? undefined : join(kept, nameOf(path));
    const fetched = own !== undefined && isDirectory(own) ? own : undefined;
    return isThere || fetched !== undefined || all ? [{ path, isThere, fetched }] : [];
  });
}

/** The caches with their directories for a run. Creates nothing. */
export function placeCaches(root: StagedRoot, found: readonly FoundCache[]): readonly StagedCache[] {
  return found.map(({ path, isThere, fetched }, index) => {
    const directory = join(root.directory, stageParts.caches, String(index));
    return { path, below: isThere ? path : join(directory, "none"), kept: fetched, directory };
  });
}

/** Creates the caches' directories, unless an earlier run did. */
export function makeCaches(caches: readonly StagedCache[]): void {
  for (const { directory, below } of caches) {
    if (isDirectory(directory)) continue;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const part of [stageParts.upper, stageParts.work, stageParts.merged])
      mkdirSync(join(directory, part), { mode: 0o700 });
    if (dirname(below) === directory) mkdirSync(below, { mode: 0o700 });
  }
}

/** What a run has written into caches: by path, a text that differs when the entry has changed. */
export type CacheEntries = ReadonlyMap<string, string>;

/** Lists the entries, without those that cannot be looked at. No process of the run may be left. */
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

/** Removes what was written or changed in caches since they were listed. The caches must not be mounted any more. */
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

/** Differs after each change of the entry; for a directory, when names in it change. No command can set a ctime. */
function stateOf(stat: BigIntStats): string {
  return stat.isDirectory() ? `directory ${stat.ino}` : `${stat.ino} ${stat.ctimeNs}`;
}

/**
 * Moves what a run wrote into caches to those that its session keeps. Entries of the user's that the run removed are there again:
 * a cache may have too much, and must not have too little.
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
    // The name is not UTF-8.
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

function upperOf({ directory }: Pick<StagedCache, "directory">): string {
  return join(directory, stageParts.upper);
}

/** True for a directory that can be read. */
function isDirectory(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

function nameOf(path: string): string {
  return hash("sha256", path).slice(0, 24);
}
