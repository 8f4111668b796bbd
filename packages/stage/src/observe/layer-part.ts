import { isUtf8 } from "node:buffer";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { isWhiteout, modeOf, statIfPresent, withRights } from "@gennai/machine/entries/look-at-entry";
import type { StageView } from "@gennai/machine/entries/stage-view";
import { pathsInGit } from "@gennai/machine/git-data/git-path";
import { directoriesAbove } from "@gennai/protocol/directories-above";
import type { SessionLayer } from "../layer/session-layer.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";

/** What decides which of a command's changes go into the layer of its session. */
export interface LayerRules {
  /** The layer as the command saw it; undefined if there was none. */
  readonly layer: SessionLayer | undefined;
  /** The names among these that git ignores by the rules from before or after the command. A directory's name ends with `/`. */
  ignored(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** True if git tracks the path before or after the command. */
  isTracked(path: string): boolean;
  /** True if git tracks something below the directory. */
  holdsTracked(directory: string): boolean;
  /** Git's directory, and what of its data stays in the session; undefined if it is in no work tree. */
  readonly git?: { readonly directory: string; isOfSession(path: string): boolean } | undefined;
  /** True if the path may come into the workspace although git ignores it. */
  isAgreed(path: string): boolean;
}

/** What of a command's changes goes into the layer. Paths are relative to the root. */
export interface FoundLayerPart {
  /** Outermost entries of the upper layer that move there with their content, including whiteouts. */
  readonly taken: ReadonlySet<string>;
  /** Names of the workspace that are gone without a whiteout: their directory was made anew. */
  readonly gone: ReadonlySet<string>;
  /** Directories in `taken` that were removed and created again. */
  readonly anew: readonly string[];
  /** Directories in `taken` that hide a directory of the workspace without a mark that says so. */
  readonly uncovered: readonly string[];
  /** Paths at which the layer has something that is replaced by the workspace's entry, or by `taken`. */
  readonly cleared: readonly string[];
  /** Outermost ignored paths of all of these. */
  readonly trees: readonly string[];
  /** Those of them at which something is still there, for commands or for the user. */
  readonly there: readonly string[];
}

interface LookedRoot extends StagedRoot {
  readonly view: StageView;
  readonly covered: { readonly hidden: readonly string[] };
}

/** Call it while the overlay is mounted. */
export async function findLayerPart(root: LookedRoot, rules: LayerRules): Promise<FoundLayerPart> {
  return new PartFinder(root, rules).find();
}

interface Touched {
  readonly path: string;
  readonly kind: "directory" | "file" | "removed-directory" | "removed-file";
  /** The entry is gone, and the upper layer has no whiteout for it. */
  readonly gone: boolean;
}

class PartFinder {
  readonly #root: LookedRoot;
  readonly #rules: LayerRules;
  readonly #upper: string;
  readonly #hidden: ReadonlySet<string>;
  readonly #inGit: (path: string) => string | undefined;
  readonly #touched: Touched[] = [];
  readonly #anew: string[] = [];
  readonly #uncovered: string[] = [];
  /** The directories of `#uncovered` that the layer has as well. */
  readonly #replaced: string[] = [];

  constructor(root: LookedRoot, rules: LayerRules) {
    this.#root = root;
    this.#rules = rules;
    this.#upper = join(root.directory, stageParts.upper);
    this.#hidden = new Set(root.covered.hidden);
    this.#inGit = pathsInGit(root.path);
  }

  async find(): Promise<FoundLayerPart> {
    await this.#collect("", true);
    const taken = new Set<string>();
    const gone = new Set<string>();
    const cleared: string[] = [];
    const trees = new Set<string>();
    const isIgnored = await this.#ignored();
    // Without whiteouts, the layer cannot say that a name is gone: a directory that lacks one does not move there as a whole.
    const holders = new Set(
      this.#root.view.canHide
        ? []
        : this.#touched.filter(({ gone: is }) => is).flatMap(({ path }) => directoriesAbove(path)),
    );
    let within = "\0";
    let ignoredTop = "\0";
    for (const touched of this.#touched) {
      const { path } = touched;
      // Sorted so that the content of a directory follows it.
      if (path.startsWith(within)) continue;
      if (isIgnored(touched) && !path.startsWith(ignoredTop)) ignoredTop = `${path}/`;
      if (!holders.has(path) && this.#isOfLayer(touched, isIgnored)) {
        (touched.gone ? gone : taken).add(path);
        trees.add(
          this.#rules.layer?.treeOf(path)?.path ?? (path.startsWith(ignoredTop) ? ignoredTop.slice(0, -1) : path),
        );
        within = `${path}/`;
      } else if (touched.kind !== "directory" && this.#inLayer(path)) cleared.push(path);
    }
    const isTaken = (path: string): boolean =>
      [...path.matchAll(/\/|$/g)].some(({ index }) => taken.has(path.slice(0, index)));
    const isOutermost = outermostOf([...this.#anew, ...this.#uncovered].filter(isTaken));
    return {
      taken,
      gone,
      cleared: [...cleared, ...this.#replaced.filter(isOutermost)],
      anew: this.#anew.filter(isOutermost),
      uncovered: this.#uncovered.filter(isOutermost),
      trees: [...trees],
      there: [...trees].filter((path) =>
        [this.#root.view.at(path), join(this.#root.path, path)].some((place) => statIfPresent(place) !== undefined),
      ),
    };
  }

  /** @param merges whether something of the lower layers may show in the directory */
  async #collect(directory: string, merges: boolean): Promise<void> {
    await giveWay();
    const { view } = this.#root;
    const merged = view.at(directory);
    const upper = join(this.#upper, directory);
    const stat = statIfPresent(upper);
    if (stat === undefined) return;
    await withRights(merged, modeOf(stat), 0o700, async () => {
      const isAnew = !merges || view.isAnew(directory, stat);
      // Also within another such directory, because that one may stay in the workspace.
      if (isAnew) this.#noteAnew(directory, merges);
      if (isAnew && this.#isOfTree(directory) && !this.#rules.holdsTracked(directory)) return;
      const names = namesIn(upper);
      for (const name of names) {
        await this.#entry(directory === "" ? name : `${directory}/${name}`, !isAnew);
      }
      if (!merges || (isAnew && this.#isOfTree(directory))) return;
      const there = new Set(names);
      const gone = isAnew ? this.#namesBelow(directory) : (view.goneIn?.(directory) ?? []);
      for (const name of gone) {
        const path = directory === "" ? name : `${directory}/${name}`;
        if (there.has(name) || this.#isSetApart(path)) continue;
        const was = statIfPresent(join(this.#root.path, path)) ?? this.#inLayer(path);
        this.#touched.push({ path, kind: was?.isDirectory() ? "removed-directory" : "removed-file", gone: true });
      }
    });
  }

  async #entry(path: string, merges: boolean): Promise<void> {
    const stat = statIfPresent(join(this.#upper, path));
    if (stat === undefined) return;
    if (this.#isSetApart(path)) {
      if (stat.isDirectory() && this.#leadsToRefs(path)) await this.#collect(path, merges);
      return;
    }
    if (stat.isDirectory()) {
      this.#touched.push({ path, kind: "directory", gone: false });
      await this.#collect(path, merges);
      return;
    }
    if (!isWhiteout(stat)) {
      this.#touched.push({ path, kind: "file", gone: false });
      return;
    }
    const was = statIfPresent(join(this.#root.path, path)) ?? this.#inLayer(path);
    this.#touched.push({ path, kind: was?.isDirectory() ? "removed-directory" : "removed-file", gone: false });
  }

  /** Names in a directory as the command found it. */
  #namesBelow(directory: string): ReadonlySet<string> {
    const { layer } = this.#rules;
    const layered = layer === undefined ? [] : namesIn(join(layer.tree, directory));
    return new Set([...namesIn(join(this.#root.path, directory)), ...layered]);
  }

  /**
   * Notes a directory that hides all earlier content.
   *
   * @param isMarked the kernel marked this directory, not only a directory above it
   */
  #noteAnew(directory: string, isMarked: boolean): void {
    const real = statIfPresent(join(this.#root.path, directory));
    const layered = this.#inLayer(directory);
    const isShown = real !== undefined && this.#rules.layer?.shows(directory) !== false;
    if (layered !== undefined && isWhiteout(layered)) {
      if (real?.isDirectory()) this.#uncovered.push(directory);
    } else if (isShown && real.isDirectory() && !isMarked) {
      this.#uncovered.push(directory);
      if (layered !== undefined) this.#replaced.push(directory);
    } else if (layered !== undefined || isShown) {
      this.#anew.push(directory);
    }
  }

  #isOfLayer(touched: Touched, isIgnored: (touched: Touched) => boolean): boolean {
    const { path, kind, gone } = touched;
    const { isTracked, holdsTracked, isAgreed } = this.#rules;
    if (gone && !this.#root.view.canHide) return false;
    if (this.#inGit(path) !== undefined) return true;
    if (isTracked(path) || holdsTracked(path)) return false;
    if (this.#isOfTree(path) || this.#isTopOfTree(touched)) return true;
    return isIgnored(touched) && !isAgreed(kind.endsWith("directory") ? `${path}/` : path);
  }

  async #ignored(): Promise<(touched: Touched) => boolean> {
    const nameOf = ({ path, kind }: Touched): string => (kind.endsWith("directory") ? `${path}/` : path);
    const isOfGit = ({ path }: Touched): boolean => this.#inGit(path) !== undefined;
    const names = this.#touched.filter((one) => !isOfGit(one) && !this.#isOfTree(one.path)).map(nameOf);
    const ignored = names.length === 0 ? new Set<string>() : await this.#rules.ignored(names);
    return (touched) => ignored.has(nameOf(touched)) || this.#isOfTree(touched.path);
  }

  /** True for what lies in a tree of the layer: it stays there, even if git does not ignore it any more. */
  #isOfTree(path: string): boolean {
    const tree = this.#rules.layer?.treeOf(path)?.path;
    return tree !== undefined && tree !== path;
  }

  /** True for a tree itself that the command went on with: in the workspace it would seem to be removed by others. */
  #isTopOfTree({ path, kind }: Touched): boolean {
    if (this.#rules.layer?.treeOf(path)?.path !== path || this.#anew.includes(path)) return false;
    const was = this.#inLayer(path);
    return was !== undefined && !isWhiteout(was) && kind === (was.isDirectory() ? "directory" : "file");
  }

  #inLayer(path: string) {
    const { layer } = this.#rules;
    return layer === undefined ? undefined : statIfPresent(join(layer.tree, path));
  }

  /** True for git's own data, but what stays in the session, and for what is hidden from commands. */
  #isSetApart(path: string): boolean {
    if (this.#hidden.has(path)) return true;
    return this.#inGit(path) !== undefined && this.#rules.git?.isOfSession(path) !== true;
  }

  #leadsToRefs(path: string): boolean {
    const directory = this.#rules.git?.directory;
    return path === directory || (path.startsWith(`${directory}/`) && /^refs(?:\/|$)/.test(this.#inGit(path) ?? ""));
  }
}

/** True for the paths that lie in no other of these paths. */
function outermostOf(paths: readonly string[]): (path: string) => boolean {
  const all = new Set(paths);
  return (path) => all.has(path) && directoriesAbove(path).every((way) => !all.has(way));
}

/** Names in a directory that are UTF-8; none if it is no directory. */
function namesIn(directory: string): readonly string[] {
  if (statIfPresent(directory)?.isDirectory() !== true) return [];
  return readdirSync(directory, { encoding: "buffer" })
    .filter((name) => isUtf8(name))
    .map(String);
}
