import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { giveWay } from "@gennai/machine/entries/give-way";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { indexLayout } from "@gennai/machine/git-data/git-index";
import { skipInIndex } from "@gennai/machine/git-data/skip-in-index";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { isWithin } from "@gennai/protocol/is-within";
import type { SessionLayer } from "../layer/session-layer.ts";
import { type ControlLeads, type Covered, CoveredTree, type CoverRules } from "./covered-tree.ts";
import { stageRoots } from "./stage-roots.ts";

/** A root, and what a command must not see of it. */
export interface CoveredRoot {
  readonly root: WorkspaceRoot;
  readonly covered: Covered;
  /** The session's layer over the root. */
  readonly layer?: SessionLayer | undefined;
}

/** What is staged for the commands of a workspace. Examines the roots before each command; remembers what did not change. */
export class CoveredRoots {
  readonly #workspace: string;
  readonly #home: string | undefined;
  readonly #rules: CoverRules;
  readonly #trees = new Map<string, CoveredTree>();
  #looking: Promise<void> = Promise.resolve();
  /** The trees of the sessions' layers, by session. */
  readonly #layers = new Map<string, CoveredTree>();
  #index: { readonly key: string; readonly adapted: Covered["index"] } | undefined;

  /**
   * @param workspace real path
   * @param home the user's
   * @param rules what is hidden besides the built-in names: at least what the machine's layout hides
   */
  constructor(workspace: string, home: string | undefined, rules: CoverRules) {
    this.#workspace = workspace;
    this.#home = home;
    this.#rules = rules;
  }

  /** The leads in all roots, as of the last look. */
  get leads(): ControlLeads {
    const all = [...this.#trees.values()].map(({ leads }) => leads);
    return {
      links: all.flatMap(({ links }) => links),
      configurations: all.flatMap(({ configurations }) => configurations),
    };
  }

  /**
   * Throws `StageUnavailable` and `UnprotectedWorkspace` rather than leave anything out. Waits for a look that is under way, and
   * pauses for other work.
   *
   * @param layer of the session, over the work tree
   */
  look(layer?: SessionLayer, signal?: AbortSignal): Promise<readonly CoveredRoot[]> {
    const looking = this.#looking.then(() => this.#lookThrough(layer, signal));
    this.#looking = looking.then(
      () => undefined,
      () => undefined,
    );
    return looking;
  }

  async #lookThrough(
    layer: SessionLayer | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly CoveredRoot[]> {
    const pause = async (): Promise<void> => {
      await giveWay();
      signal?.throwIfAborted();
    };
    const roots = await this.#look(pause);
    if (layer === undefined) return roots;
    const { session, tree } = layer;
    const known = this.#layers.get(session) ?? new CoveredTree(tree, { isZeroAccess: this.#rules.isZeroAccess });
    this.#layers.set(session, known);
    const inLayer = await known.look(pause);
    return roots.map((one) => {
      return one.root.path === layer.root.path
        ? { ...one, covered: throughLayer(one.covered, inLayer, layer), layer }
        : one;
    });
  }

  async #look(pause: () => Promise<void>): Promise<readonly CoveredRoot[]> {
    const roots: CoveredRoot[] = [];
    for (const root of stageRoots(this.#workspace, this.#home)) {
      const tree = this.#trees.get(root.path) ?? new CoveredTree(root.path, this.#rulesFor(root.path));
      this.#trees.set(root.path, tree);
      roots.push({ root, covered: await tree.look(pause) });
    }
    const [workTree] = roots;
    const index = workTree === undefined ? undefined : indexOf(workTree.root.path);
    const owner = roots.find(({ root }) => index !== undefined && isWithin(index, { directory: root.path }));
    if (workTree === undefined || index === undefined || owner === undefined) return roots;
    const { hidden, unnamed = [] } = workTree.covered;
    const adapted = this.#adapted(index, relative(owner.root.path, index), [...hidden, ...unnamed.map(String)]);
    if (adapted === undefined) return roots;
    return roots.map((one) => (one === owner ? { ...one, covered: { ...one.covered, index: adapted } } : one));
  }

  #rulesFor(root: string): CoverRules {
    const { targets } = this.#rules;
    return targets === undefined
      ? this.#rules
      : { ...this.#rules, targets: join(targets, workspaceIdOf(root).slice(0, 16)) };
  }

  /** The index that commands see; without it, hidden files that git tracks would look removed. */
  #adapted(file: string, path: string, hidden: readonly string[]): Covered["index"] {
    const stat = statIfPresent(file);
    if (stat?.isFile() !== true || hidden.length === 0) return undefined;
    const key = JSON.stringify([file, hidden, ...[stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].map(String)]);
    if (this.#index?.key !== key) this.#index = { key, adapted: adapt(readFileSync(file), path, hidden) };
    return this.#index.adapted;
  }
}

/** What a command must not see of a work tree and of the layer over it. */
function throughLayer(real: Covered, inLayer: Covered, layer: SessionLayer): Covered {
  const shows = (path: string): boolean => layer.shows(path);
  const hidden = new Set([...real.hidden.filter(shows), ...inLayer.hidden]);
  const copies = new Map([...real.copies].filter(([path]) => shows(path)));
  for (const [path, bytes] of inLayer.copies) copies.set(path, bytes);
  return { ...real, hidden: [...hidden], unnamed: [...(real.unnamed ?? []), ...(inLayer.unnamed ?? [])], copies };
}

/**
 * An index that tells git to leave alone what is hidden; undefined if it tracks nothing of it.
 *
 * @param path of the index, from its root
 * @param hidden paths from the work tree's top; as in an index, U+FFFD stands for what is not UTF-8
 */
export function adapt(bytes: Uint8Array, path: string, hidden: readonly string[]): Covered["index"] {
  const all = new Set(hidden);
  const isHidden = (tracked: string): boolean => {
    for (let end = tracked.length; end > 0; end = tracked.lastIndexOf("/", end - 1)) {
      if (all.has(tracked.slice(0, end))) return true;
    }
    return false;
  };
  const tracked = indexLayout(bytes)?.entries.filter((entry) => isHidden(entry.path) && entry.more === 0) ?? [];
  const skipped = new Set(tracked.map((entry) => entry.path));
  const adapted = skipped.size === 0 ? undefined : skipInIndex(bytes, skipped);
  return adapted === undefined ? undefined : { path, bytes: adapted };
}

/** Path of a work tree's index, wherever git keeps it; undefined if there is none. */
export function indexOf(workTree: string): string | undefined {
  const git = join(workTree, ".git");
  const stat = statIfPresent(git);
  if (stat?.isDirectory()) return join(git, "index");
  if (stat?.isFile() !== true) return undefined;
  const named = /^gitdir: (.+)$/.exec(readFileSync(git, "utf8").trim())?.[1];
  try {
    return named === undefined ? undefined : join(realpathSync(resolve(dirname(git), named)), "index");
  } catch {
    return undefined;
  }
}
