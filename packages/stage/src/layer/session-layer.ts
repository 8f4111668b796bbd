import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWhiteout, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { lookLike } from "@gennai/machine/entries/look-like";
import { moveEntry } from "@gennai/machine/entries/move-entry";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { hasCode } from "@gennai/machine/system-error";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { directoriesAbove } from "@gennai/protocol/directories-above";
import { isWithin } from "@gennai/protocol/is-within";
import type { LayeredTree } from "@gennai/protocol/model/session/layer";
import type { LimitFunction } from "p-limit";
import pLimit from "p-limit";
import { stageParts } from "../transaction/staged-root.ts";
import type { Transaction } from "../transaction/transaction.ts";
import {
  isDamaged,
  type LayerAbout,
  type LayerOwner,
  layerDirectory,
  makeOwner,
  noteUse,
  readAbout,
  readOwner,
  readPart,
  removeLayer,
  type TreeRecord,
  writeAbout,
  writePart,
} from "./layer-files.ts";
import { summariseTree } from "./layer-summary.ts";
import { mergeLayer } from "./merge-layer.ts";
import { keepCaches, type StagedCache } from "./staged-caches.ts";

/**
 * What commands of a session made that git ignores. The layer lies over the workspace for later commands of that session, and its
 * content is not in the workspace. It is on the workspace's file system, so that everything is renamed and nothing copied.
 *
 * What a command adds is renamed to `next` and merged from there. After a kill, opening the layer completes the merge.
 */
export class SessionLayer {
  readonly session: string;
  readonly root: WorkspaceRoot;
  readonly #place: string;
  #about: LayerAbout = nothing;
  #byPath: ReadonlyMap<string, TreeRecord> = new Map();
  #opaque: ReadonlySet<string> = new Set();

  private constructor({ session, root, place }: LayerOwner, about: LayerAbout) {
    this.session = session;
    this.root = root;
    this.#place = place;
    this.#know(about);
  }

  /** The layer of a session; undefined if it has none. Removes a layer whose root is gone, and one whose record is damaged. */
  static async open(stateDir: string, session: string, root: WorkspaceRoot): Promise<SessionLayer | undefined> {
    const directory = layerDirectory(stateDir, session);
    const owner = readOwner(directory);
    if (owner === undefined && !isDamaged(directory)) return undefined;
    const about = owner === undefined ? undefined : readAbout(owner.place);
    if (owner === undefined || about === undefined || !isOver(owner, root)) {
      await removeLayer(stateDir, session, root.path);
      return undefined;
    }
    noteUse(directory);
    const layer = new SessionLayer(owner, about);
    await layer.#add(undefined);
    return layer;
  }

  /** The directory to mount. */
  get tree(): string {
    return join(this.#place, "base");
  }

  /** Directory of what runs of the session fetched into caches of package managers. */
  get caches(): string {
    return join(this.#place, "caches");
  }

  /** Differs after every change of the layer. */
  get revision(): string {
    return `${this.session} ${this.#about.revision}`;
  }

  get trees(): readonly TreeRecord[] {
    return this.#about.trees;
  }

  /** The tree that a path belongs to, even if the path does not exist. */
  treeOf(path: string): TreeRecord | undefined {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const tree = this.#byPath.get(path.slice(0, end));
      if (tree !== undefined) return tree;
    }
    return undefined;
  }

  /** False if the layer hides the workspace's entry at a path. */
  shows(path: string): boolean {
    for (let end = path.indexOf("/"); ; end = path.indexOf("/", end + 1)) {
      const way = end < 0 ? path : path.slice(0, end);
      const stat = statIfPresent(join(this.tree, way));
      if (stat === undefined) return true;
      if (!stat.isDirectory()) return false;
      if (end < 0) return true;
      if (this.#opaque.has(way)) return false;
    }
  }

  /** For a directory of the layer: true if nothing of the workspace's directory shows in it. */
  isOpaque(path: string): boolean {
    return this.#opaque.has(path);
  }

  /** Whether the layer decides what commands see at a path. */
  covers(path: string): boolean {
    return statIfPresent(join(this.tree, path)) !== undefined || !this.shows(path);
  }

  /** A path, for this process, to the layer's entry at a path; undefined if there is none, or a whiteout. */
  entryAt(path: string): string | undefined {
    const at = join(this.tree, path);
    const stat = statIfPresent(at);
    return stat === undefined || isWhiteout(stat) ? undefined : at;
  }

  /**
   * Adds what commands left in a transaction to the layers of their sessions.
   *
   * @param options.late other commands may have run since: their versions of the same trees stay
   * @returns the layers
   */
  static async adopt(
    stateDir: string,
    { roots }: Transaction,
    { late = false }: { readonly late?: boolean } = {},
  ): Promise<readonly SessionLayer[]> {
    const layers: SessionLayer[] = [];
    for (const { directory } of roots) {
      const left = join(directory, stageParts.layer);
      const part = readPart(left);
      if (part === undefined) continue;
      const { session, root } = part;
      const layer =
        (await SessionLayer.open(stateDir, session, root)) ??
        new SessionLayer(makeOwner(stateDir, { session, root }), nothing);
      if (late && part.trees.some(({ path, at }) => (layer.#byPath.get(path)?.at ?? at) > at)) continue;
      await layer.#add(left);
      layers.push(layer);
    }
    return layers;
  }

  /** Takes over what a run of a session fetched into caches. @returns the session's layer */
  static async fetched(
    stateDir: string,
    { session, root }: Pick<LayerOwner, "session" | "root">,
    caches: readonly StagedCache[],
  ): Promise<SessionLayer> {
    const layer =
      (await SessionLayer.open(stateDir, session, root)) ??
      new SessionLayer(makeOwner(stateDir, { session, root }), nothing);
    await layer.#alone(async () => {
      // The revision changes, because overlays mounted earlier do not have the new files.
      if (await keepCaches(caches, layer.caches)) layer.#write(layer.#about);
    });
    return layer;
  }

  /**
   * Call it before mounting: drops trees that others changed in the workspace meanwhile, and gives parent directories of the
   * others the workspace's attributes. @returns paths of the dropped trees
   */
  async renew(): Promise<readonly string[]> {
    const stale = this.trees.filter((tree) => isStale({ root: this.root.path, base: this.tree }, tree));
    const dropped = await this.drop(stale.map(({ path }) => path));
    const ways = new Set(this.trees.flatMap(({ path }) => directoriesAbove(path)));
    for (const way of ways) lookLike(join(this.root.path, way), join(this.tree, way));
    return dropped;
  }

  /** Drops trees. @returns the paths of those that existed */
  drop(paths: readonly string[]): Promise<readonly string[]> {
    return this.#alone(async () => {
      const { opaque, trees } = this.#about;
      const gone = trees.map(({ path }) => path).filter((path) => paths.includes(path));
      if (gone.length === 0) return [];
      for (const path of gone) this.#discard(join(this.tree, path));
      this.#write({ opaque, trees });
      await this.#sweep();
      return gone;
    });
  }

  /** Lists the trees with size and digest. */
  async list(): Promise<readonly LayeredTree[]> {
    const listed: LayeredTree[] = [];
    for (const tree of this.trees) {
      const { path, command, at } = tree;
      listed.push({ path, command, at, ...(await summariseTree(join(this.tree, path))) });
    }
    return listed;
  }

  get #next(): string {
    return join(this.#place, "next");
  }

  get #bin(): string {
    return join(this.#place, "bin");
  }

  #add(left: string | undefined): Promise<void> {
    return this.#alone(async () => {
      await this.#mergeNext();
      if (left !== undefined) {
        renameSync(left, this.#next);
        await this.#mergeNext();
      }
      await this.#sweep();
    });
  }

  /** Runs `work` while nothing else changes the layer of this session. */
  #alone<Value>(work: () => Promise<Value>): Promise<Value> {
    const turns = turnsOf.get(this.session) ?? pLimit(1);
    turnsOf.set(this.session, turns);
    return turns(() => {
      this.#know(readAbout(this.#place) ?? this.#about);
      return work();
    });
  }

  async #mergeNext(): Promise<void> {
    const part = readPart(this.#next);
    if (part === undefined) return removeTree(this.#next);
    for (const path of part.cleared) this.#discard(join(this.tree, path));
    // So that a repeated merge does not clear what is added from here on.
    if (part.cleared.length > 0) writePart(this.#next, { ...part, cleared: [] });
    await mergeLayer({
      root: this.root.path,
      base: this.tree,
      next: join(this.#next, stageParts.layerTree),
      anew: new Set(part.anew),
      opaque: new Set(this.#about.opaque),
      discard: (path) => this.#discard(path),
    });
    const isReplaced = (path: string): boolean =>
      [...part.anew, ...part.cleared].some((one) => isWithin(path, { directory: one }));
    const opaque = [...this.#about.opaque.filter((path) => !isReplaced(path)), ...part.anew];
    const trees = new Map(this.trees.map((tree) => [tree.path, tree]));
    for (const tree of part.trees) trees.set(tree.path, tree);
    this.#write({ opaque, trees: [...trees.values()] });
    await removeTree(this.#next);
  }

  /** Removes an entry of the layer at once; its bytes are deleted later. */
  #discard(path: string): void {
    if (statIfPresent(path) === undefined) return;
    mkdirSync(this.#bin, { recursive: true, mode: 0o700 });
    discarded += 1;
    moveEntry(path, join(this.#bin, `${process.pid}-${Date.now()}-${discarded}`));
  }

  #sweep(): Promise<void> {
    return removeTree(this.#bin);
  }

  #write({ opaque, trees }: Pick<LayerAbout, "opaque" | "trees">): void {
    const isThere = ({ path }: { readonly path: string }): boolean =>
      statIfPresent(join(this.tree, path)) !== undefined;
    for (const { path } of trees.filter((tree) => !isThere(tree))) this.#removeWay(path);
    const about: LayerAbout = {
      version: 1,
      revision: this.#about.revision + 1,
      opaque: opaque.filter((path) => isThere({ path })),
      trees: trees.filter(isThere).toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    };
    writeAbout(this.#place, about);
    this.#know(about);
  }

  #know(about: LayerAbout): void {
    this.#about = about;
    this.#byPath = new Map(about.trees.map((tree) => [tree.path, tree]));
    this.#opaque = new Set(about.opaque);
  }

  /** Removes parent directories that lead to nothing else: commands would still see them after the workspace's are gone. */
  #removeWay(path: string): void {
    for (let way = dirname(path); way !== "."; way = dirname(way)) {
      try {
        rmdirSync(join(this.tree, way));
      } catch (error) {
        if (hasCode(error, "ENOENT")) continue;
        if (hasCode(error, "ENOTEMPTY") || hasCode(error, "ENOTDIR")) return;
        throw error;
      }
    }
  }
}

function isOver({ root: { path, device, inode }, place }: LayerOwner, root: WorkspaceRoot): boolean {
  const isSame = path === root.path && device === root.device && inode === root.inode;
  return isSame && existsSync(join(place, "base"));
}

const nothing: LayerAbout = { version: 1, revision: 0, opaque: [], trees: [] };

const turnsOf = new Map<string, LimitFunction>();

let discarded = 0;

/** Up to this number of entries, all entries that a tree covers in the workspace are looked at; beyond it, only directories. */
const maxFiles = 5_000;

/**
 * Whether others changed in the workspace what a tree of the layer covers: removed or created it, or added, removed or wrote
 * files where the layer has some. What shows through the layer may change.
 */
function isStale(
  { root, base }: { readonly root: string; readonly base: string },
  { path, marker, was }: Pick<TreeRecord, "path" | "marker" | "was">,
): boolean {
  const real = statIfPresent(join(root, path));
  if ((real === undefined ? null : String(real.ino)) !== was) return true;
  if (real === undefined) return statIfPresent(dirname(join(root, path))) === undefined;
  const since = BigInt(marker);
  if (real.ctimeNs >= since) return true;
  let files = 0;
  const waiting = [path];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of entriesIn(join(base, directory))) {
      const below = join(directory, entry.name);
      files += entry.isDirectory() ? 0 : 1;
      if (!entry.isDirectory() && files > maxFiles) continue;
      const there = statIfPresent(join(root, below));
      if (there === undefined) continue;
      if (there.ctimeNs >= since) return true;
      if (entry.isDirectory() && there.isDirectory()) waiting.push(below);
    }
  }
  return false;
}

function entriesIn(directory: string) {
  return statIfPresent(directory)?.isDirectory() ? readdirSync(directory, { withFileTypes: true }) : [];
}
