import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { type BigIntStats, chmodSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import {
  type Entry,
  entryAt,
  identityOf,
  isSameEntry,
  isWhiteout,
  modeOf,
  statIfPresent,
  withRights,
} from "@gennai/machine/entries/look-at-entry";
import type { StageView } from "@gennai/machine/entries/stage-view";
import { type PathInGit, pathsInGit } from "@gennai/machine/git-data/git-path";
import type { Covered } from "../cover/covered-tree.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import type { Dropped, Observation, StageEffect } from "./effect.ts";
import { caseClashes, flagsOf } from "./effect-flags.ts";
import { type FoundLayerPart, findLayerPart, type LayerRules } from "./layer-part.ts";
import { LookBudget, type LookLimits, lookLimits } from "./look-budget.ts";

/** A root, and what is needed to look at it. */
export interface ObservedRoot extends StagedRoot {
  readonly view: StageView;
  readonly covered: Covered;
  /** The marker's ctime, in nanoseconds. */
  readonly marker: bigint;
  /** What decides which part goes into the session's layer. */
  readonly rules?: LayerRules | undefined;
}

/**
 * What a command did. Call it after its last process has ended and before the overlays are unmounted. Throws system errors for
 * entries that cannot be looked at; then nothing can be kept.
 */
export async function observe(roots: readonly ObservedRoot[], limits: LookLimits = lookLimits): Promise<Observation> {
  const budget = new LookBudget(limits);
  const effects: StageEffect[] = [];
  const dropped: Dropped[] = [];
  const replaced: StageEffect[] = [];
  let layer: Observation["layer"];
  for (const [index, root] of roots.entries()) {
    const part = root.rules === undefined ? undefined : await findLayerPart(root, root.rules);
    if (part !== undefined && part.trees.length + part.cleared.length > 0) layer = { root: index, part };
    const found = await new RootObserver(root, index, { layerPart: part, budget }).look();
    effects.push(...found.effects);
    replaced.push(...found.replaced);
    dropped.push(...found.dropped);
  }
  const markers = roots.map(({ marker }) => marker);
  return { effects, dropped, replaced, markers, ...(layer === undefined ? {} : { layer }) };
}

/** A directory on the way down. */
interface Way {
  /** The user's tree has it too, and the command could see that. */
  readonly inLower: boolean;
  /** The path is hidden from the command, or lies in such a directory. */
  readonly inHidden: boolean;
}

interface InDirectory {
  /** The directory was removed and created again. */
  readonly isAnew: boolean;
  /** Another name in it differs only by case. */
  readonly isClash: boolean;
  /** Its mode as it may be kept. */
  readonly mode: number;
}

class RootObserver {
  readonly #root: ObservedRoot;
  readonly #index: number;
  readonly #upper: string;
  readonly #inGit: PathInGit;
  readonly #hidden: ReadonlySet<string>;
  readonly #budget: LookBudget;
  /** The part for the session's layer; it is no effect on the user's tree. */
  readonly #layerPart: FoundLayerPart | undefined;
  readonly #effects: StageEffect[] = [];
  readonly #dropped: Dropped[] = [];
  readonly #replaced: StageEffect[] = [];
  /** For created entries: the inode of the user's entry that they began as. */
  readonly #origins = new Map<StageEffect, bigint>();

  constructor(
    root: ObservedRoot,
    index: number,
    { layerPart, budget }: { readonly layerPart: FoundLayerPart | undefined; readonly budget: LookBudget },
  ) {
    this.#layerPart = layerPart;
    this.#budget = budget;
    this.#root = root;
    this.#index = index;
    this.#upper = join(root.directory, stageParts.upper);
    this.#inGit = pathsInGit(root.path);
    this.#hidden = new Set(root.covered.hidden);
  }

  async look() {
    await this.#directory("", { inLower: true, inHidden: false });
    const effects = pairMoves(inOrder(this.#effects), this.#origins, () => this.#inodesInTrees());
    for (const path of this.#root.view.dropped) this.#drop(path, "no-file");
    return { effects, dropped: this.#dropped, replaced: this.#replaced };
  }

  /** @returns whether the upper layer has all of the directory, so that nothing of the user's tree shows through */
  async #directory(path: string, way: Way): Promise<boolean> {
    const { inLower } = way;
    const upper = join(this.#upper, path);
    const merged = this.#root.view.at(path);
    const stat = mustBe(statIfPresent(upper), path);
    return withRights(merged, modeOf(stat), 0o700, async () => {
      const names = namesIn(upper);
      const lowerNames = inLower ? namesIn(join(this.#root.path, path)) : noNames;
      const gone = this.#root.view.goneIn?.(path);
      const clashes = this.#clashes(path, [...names.text, ...lowerNames.text], gone);
      const isAnew = inLower && this.#root.view.isAnew(path, stat);
      const inUpper = new Set(names.text);
      const mode = modeOf(path === "" ? mustBe(statIfPresent(this.#root.path), path) : stat);
      let isWhole = !inLower || (isAnew && namesIn(merged).text.every((name) => inUpper.has(name)));
      for (const name of names.text) {
        const below = path === "" ? name : `${path}/${name}`;
        isWhole = (await this.#entry(below, { ...way, isAnew, mode, isClash: clashes.has(name) })) && isWhole;
      }
      const known = new Set(lowerNames.notText);
      for (const shown of names.notText) this.#unnamed(path, shown, known.has(shown) ? "changed" : "created");
      if (!inLower) return isWhole;
      const lacksAll = gone === undefined ? this.#lacksNames(path, inUpper, lowerNames.text) : isAnew;
      const lacked = gone === undefined && lacksAll ? lowerNames.text.filter((name) => !inUpper.has(name)) : gone;
      for (const name of lacked ?? []) await this.#gone(path === "" ? name : `${path}/${name}`);
      for (const shown of lacksAll ? lowerNames.notText : []) this.#unnamed(path, shown, "deleted");
      return isWhole;
    });
  }

  /** What is gone clashes with nothing. */
  #clashes(path: string, names: readonly string[], gone: readonly string[] | undefined): ReadonlySet<string> {
    const isThere = (name: string): boolean => {
      const below = join(path, name);
      if (this.#hidden.has(below)) return true;
      const upper = statIfPresent(join(this.#upper, below));
      if (upper !== undefined) return !isWhiteout(upper);
      return gone === undefined ? statIfPresent(this.#root.view.at(below)) !== undefined : !gone.includes(name);
    };
    return caseClashes([...caseClashes(names)].filter(isThere));
  }

  /** @returns whether the upper layer has all of the entry */
  async #entry(path: string, { inLower, inHidden, isAnew, isClash, mode }: Way & InDirectory): Promise<boolean> {
    await giveWay();
    if (this.#layerPart?.taken.has(path)) return false;
    const upper = join(this.#upper, path);
    const isBelowHidden = inHidden || this.#hidden.has(path);
    const lower = inLower && !isBelowHidden ? statIfPresent(join(this.#root.path, path)) : undefined;
    const stat = this.#withKeptMode(path, lower, mode);
    this.#budget.spend(stat.isFile() ? stat.size : 0n);
    if (isWhiteout(stat)) {
      if (lower !== undefined) await this.#gone(path);
      return true;
    }
    if (stat.isFIFO() || stat.isSocket()) {
      unlinkSync(upper);
      this.#drop(path, "no-file");
      if (lower !== undefined) await this.#gone(path);
      return false;
    }
    // If the entry replaced a directory that contains something hidden, the directory stays.
    const isKept = lower?.isDirectory() === true && !stat.isDirectory() && !(await this.#goneBelow(path));
    const isHidden = isBelowHidden || isKept;
    const after = await this.#after(path, stat);
    const before = lower === undefined ? undefined : await this.#before(path, lower);
    const isSame = before !== undefined && isSameEntry(before, after);
    if (!isSame && before !== undefined && isSameEntry(this.#asShown(path, before), after)) {
      this.#drop(path, "as-shown");
    } else if (!isSame) {
      const flags = [...flagsOf({ root: this.#root, path, after, isHidden, isClash, lower, upper: stat })];
      if (inLower && !isBelowHidden && lower === undefined && this.#wasRemoved(path)) flags.push("changed-by-others");
      const change = before === undefined ? "created" : "changed";
      const effect = { root: this.#index, path, change, after, flags } as const;
      this.#effects.push(before === undefined ? effect : { ...effect, before });
      const origin = before === undefined ? this.#root.view.origin(path, stat) : undefined;
      if (origin !== undefined) this.#origins.set(effect, origin);
    }
    if (!stat.isDirectory()) return true;
    const isWhole = await this.#directory(path, { inLower: lower?.isDirectory() === true, inHidden: isHidden });
    const canBeReplaced = this.#root.view.canReplace && isAnew && isWhole;
    if (canBeReplaced && before?.type === "directory" && !this.#holdsWhatStays(path)) {
      this.#replaced.push({ root: this.#index, path, change: "changed", before, after, flags: [] });
    }
    return isWhole;
  }

  /** Attributes of an entry of the upper layer; its mode is set to what may be kept of it. */
  #withKeptMode(path: string, lower: BigIntStats | undefined, directory: number): BigIntStats {
    const upper = join(this.#upper, path);
    const stat = mustBe(statIfPresent(upper), path);
    if (!stat.isFile() && !stat.isDirectory()) return stat;
    const isSameKind = stat.isFile() ? lower?.isFile() : lower?.isDirectory();
    const inGit = this.#inGit(path) !== undefined;
    const mode = keptMode(stat, isSameKind === true ? lower : undefined, { directory, inGit });
    if (mode === modeOf(stat)) return stat;
    chmodSync(this.#root.view.at(path), mode);
    return mustBe(statIfPresent(upper), path);
  }

  /** For a path that the user's tree lacks now: whether it was there when the command began. */
  #wasRemoved(path: string): boolean {
    const { covered, rules } = this.#root;
    return covered.wasThere?.(path) === true && rules?.layer?.covers(path) !== true;
  }

  #holdsWhatStays(path: string): boolean {
    const { hidden, copies, index } = this.#root.covered;
    const stays = [...hidden, ...copies.keys(), index?.path ?? "", ...(this.#layerPart?.gone ?? [])];
    return stays.some((one) => one.startsWith(`${path}/`));
  }

  /** Notes that the user's entry and everything below it are deleted. @returns false if something hidden in it must stay */
  async #gone(path: string): Promise<boolean> {
    await giveWay();
    if (this.#hidden.has(path) || this.#layerPart?.gone.has(path)) return false;
    const lower = statIfPresent(join(this.#root.path, path));
    if (lower === undefined) return true;
    this.#budget.spend();
    if (lower.isDirectory() && !(await this.#goneBelow(path))) return false;
    const before = await this.#before(path, lower);
    const flags = flagsOf({ root: this.#root, path, isHidden: false, isClash: false, lower });
    this.#effects.push({ root: this.#index, path, change: "deleted", before, flags });
    // Replacing the directory around it would move a mount away.
    return !this.#root.covered.copies.has(path) && !this.#root.view.isElsewhere(path);
  }

  async #goneBelow(path: string): Promise<boolean> {
    const names = namesIn(join(this.#root.path, path));
    for (const shown of names.notText) this.#unnamed(path, shown, "deleted");
    let areGone = true;
    for (const name of names.text) areGone = (await this.#gone(`${path}/${name}`)) && areGone;
    return areGone;
  }

  /**
   * Whether a directory was removed and created again. The overlay's mark for that cannot be read here, so the test is whether an
   * untouched name of the user's directory no longer shows.
   */
  #lacksNames(path: string, inUpper: ReadonlySet<string>, lowerNames: readonly string[]): boolean {
    for (const name of lowerNames) {
      const below = path === "" ? name : `${path}/${name}`;
      if (inUpper.has(name) || this.#hidden.has(below) || this.#root.rules?.layer?.covers(below)) continue;
      const lower = statIfPresent(join(this.#root.path, below));
      if (lower === undefined || lower.ctimeNs >= this.#root.marker) continue;
      return statIfPresent(this.#root.view.at(below)) === undefined;
    }
    return false;
  }

  /** The entry as the command left it, read through the overlay, which would not notice a mode changed below it. */
  async #after(path: string, stat: BigIntStats): Promise<Entry> {
    const merged = this.#root.view.at(path);
    if (!stat.isFile()) return entryAt(merged, stat);
    return withRights(merged, modeOf(stat), 0o400, () => entryAt(merged, stat));
  }

  async #before(path: string, lower: BigIntStats) {
    return { ...(await entryAt(join(this.#root.path, path), lower)), identity: identityOf(lower) };
  }

  #drop(path: string, why: Dropped["why"]): void {
    this.#dropped.push({ root: this.#index, path, why });
  }

  /** What the command saw of the user's entry. */
  #asShown(path: string, entry: Entry): Entry {
    const copy = this.#root.covered.copies.get(path);
    if (copy === undefined || entry.type !== "file") return entry;
    return { ...entry, size: copy.length, sha256: hash("sha256", copy) };
  }

  /** Inodes of files that are in the layer's trees, or were before they were moved. */
  #inodesInTrees(): ReadonlyMap<bigint, string> {
    const inodes = new Map<bigint, string>();
    const tops = [this.#root.path, ...(this.#root.rules?.layer === undefined ? [] : [this.#root.rules.layer.tree])];
    const waiting = (this.#layerPart?.trees ?? []).flatMap((path) => tops.map((top) => ({ top, path })));
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { top, path } = next;
      const stat = statIfPresent(join(top, path));
      if (stat?.isFile()) inodes.set(stat.ino, path);
      if (stat?.isDirectory()) {
        for (const name of namesIn(join(top, path)).text) waiting.push({ top, path: `${path}/${name}` });
      }
    }
    return inodes;
  }

  #unnamed(directory: string, shown: string, change: StageEffect["change"]): void {
    const path = directory === "" ? shown : `${directory}/${shown}`;
    this.#effects.push({ root: this.#index, path, change, flags: ["name-not-utf8"] });
  }
}

/** Sorted so that the content of a directory directly follows it. */
function inOrder(effects: readonly StageEffect[]): readonly StageEffect[] {
  const keyed = effects.map((effect) => ({ effect, key: effect.path.replaceAll("/", "\0") }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  return keyed.map(({ effect }) => effect);
}

/**
 * Adds to moved files where they came from. If a user's file is gone that the command did not remove, others removed or moved it.
 */
function pairMoves(
  effects: readonly StageEffect[],
  origins: ReadonlyMap<StageEffect, bigint>,
  inTrees: () => ReadonlyMap<bigint, string>,
): readonly StageEffect[] {
  const byInode = new Map<bigint, StageEffect>();
  const byDigest = new Map<string, StageEffect>();
  for (const effect of effects) {
    if (effect.before === undefined) continue;
    byInode.set(effect.before.identity.inode, effect);
    const { before, change } = effect;
    if (change === "deleted" && before.type === "file" && before.size > 0) byDigest.set(before.sha256 ?? "", effect);
  }
  const movedTo = new Map<StageEffect, string>();
  const paired = effects.map((effect): StageEffect => {
    if (effect.change !== "created") return effect;
    const origin = origins.get(effect);
    const digest = effect.after?.type === "file" ? effect.after.sha256 : undefined;
    const from = (origin === undefined ? undefined : byInode.get(origin)) ?? byDigest.get(digest ?? "none");
    if (from !== undefined) {
      movedTo.set(from, effect.path);
      return { ...effect, movedFrom: from.path };
    }
    const inTree = origin === undefined ? undefined : inTrees().get(origin);
    if (inTree !== undefined) return { ...effect, movedFrom: inTree };
    return origin === undefined ? effect : { ...effect, flags: [...effect.flags, "changed-by-others"] };
  });
  return paired.map((effect) => {
    const to = movedTo.get(effect);
    return to === undefined ? effect : { ...effect, movedTo: to };
  });
}

interface Names {
  readonly text: readonly string[];
  /** The names that are not UTF-8, with U+FFFD. */
  readonly notText: readonly string[];
}

const noNames: Names = { text: [], notText: [] };

function namesIn(directory: string): Names {
  const text: string[] = [];
  const notText: string[] = [];
  for (const name of readdirSync(directory, { encoding: "buffer" })) {
    (isUtf8(name) ? text : notText).push(name.toString());
  }
  return { text, notText };
}

function mustBe(stat: BigIntStats | undefined, path: string): BigIntStats {
  if (stat === undefined) throw new Error(`${path} went away while it was looked at`);
  return stat;
}

/**
 * The permission bits with which a command's file or directory may be kept: no more people may read or write an entry than before,
 * and those who read a program may run it. A new one has what the user's umask leaves; in a directory that a group shares, the
 * group may write to it. In git's data nobody loses a right either: git would stop there.
 *
 * @param before the user's entry of the same kind
 * @param directory mode of the directory that holds it
 */
function keptMode(
  stat: BigIntStats,
  before: BigIntStats | undefined,
  { directory, inGit }: { readonly directory: number; readonly inGit: boolean },
): number {
  const usual = (stat.isFile() ? 0o444 : 0o777) & ~process.umask();
  const atLeast = before === undefined ? usual : modeOf(before) & 0o777;
  const mode = modeOf(stat) | (inGit ? atLeast : 0);
  const setId = stat.isFile() ? mode & 0o6000 : before === undefined ? directory & 0o2000 : modeOf(before) & 0o7000;
  if (before === undefined) {
    const shared = (directory & 0o2020) === 0o2020 ? 0o020 : 0;
    return setId | (mode & 0o777 & ~(process.umask() & ~shared));
  }
  const runs = stat.isFile() && (mode & 0o100) !== 0 ? (modeOf(before) & 0o044) >> 2 : 0;
  return setId | (mode & 0o777 & (modeOf(before) | 0o700 | runs));
}
