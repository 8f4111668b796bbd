import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { overwrite } from "@gennai/machine/file-in-place";
import { readGitIndex } from "@gennai/machine/git-data/git-index";
import type { KeptPaths } from "./kept-paths.ts";
import { type KeptTree, packModes } from "./kept-tree.ts";
import { writeLooseObject } from "./loose-objects.ts";
import { type SeenChange, SeenFiles } from "./seen-files.ts";
import type { ShadowGit } from "./shadow-git.ts";
import { type TreeEntry, TreeObjects } from "./tree-objects.ts";

/** What decides, besides the disk, what a snapshot contains. */
export interface SnapshotRules {
  readonly patterns: string;
  readonly tracked: readonly string[];
}

export interface NextSnapshot {
  /** The tree of the previous snapshot. */
  readonly before: string;
  readonly kept: KeptTree;
  readonly changes: readonly SeenChange[];
}

/**
 * The newest snapshot in memory: the next one is computed from the changes since, without git. Valid as long as no other process
 * took a snapshot, which `refs/newest` of the repository shows; that ref also keeps its objects from being pruned.
 */
export class LastSnapshot {
  readonly #git: ShadowGit;
  readonly #rules: SnapshotRules;
  readonly #files: SeenFiles;
  readonly #objects: TreeObjects;
  #kept: KeptTree;
  #modes: ReadonlyMap<string, number> | undefined;

  private constructor(
    git: ShadowGit,
    kept: KeptTree,
    { rules, files, objects }: { rules: SnapshotRules; files: SeenFiles; objects: TreeObjects },
  ) {
    this.#git = git;
    this.#kept = kept;
    this.#rules = rules;
    this.#files = files;
    this.#objects = objects;
  }

  /**
   * Undefined if only git can determine the next snapshot.
   *
   * @param options.time before the snapshot began, in milliseconds since the epoch
   */
  static async remember(
    git: ShadowGit,
    kept: KeptTree,
    options: {
      readonly time: number;
      readonly rules: SnapshotRules;
      readonly paths: KeptPaths;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<LastSnapshot | undefined> {
    const { time, rules, paths, signal } = options;
    if (paths.hasNested) return undefined;
    const entries = indexEntries(git);
    if (entries === undefined) return undefined;
    const objects = new TreeObjects();
    for (const [path, entry] of entries) objects.set(path, entry);
    // The tree must be the one that git wrote; otherwise nothing is written.
    if (objects.write(() => undefined) !== kept.tree) return undefined;
    const { stamps, ignored, passedOver } = paths;
    const files = await SeenFiles.remember(git.root, { time, stamps, entries, ignored, passedOver }, signal);
    return files === undefined ? undefined : new LastSnapshot(git, kept, { rules, files, objects });
  }

  /** The next snapshot; undefined if only git can determine it. After that, or a rejection, this one is no longer usable. */
  async next(rules: SnapshotRules, signal?: AbortSignal): Promise<NextSnapshot | undefined> {
    const { patterns, tracked } = this.#rules;
    const isSameTracked = tracked === rules.tracked || tracked.join("\0") === rules.tracked.join("\0");
    if (patterns !== rules.patterns || !isSameTracked || newestTree(this.#git) !== this.#kept.tree) return undefined;
    const changes = await this.#files.look(signal);
    if (changes === undefined) return undefined;
    for (const { path, after, object } of changes) {
      if (object !== undefined) writeLooseObject(this.#git.directory, object);
      this.#objects.set(path, after);
    }
    const before = this.#kept.tree;
    const tree = this.#objects.write((object) => writeLooseObject(this.#git.directory, object));
    writeNewestTree(this.#git, tree);
    const modes = this.#files.modes();
    this.#kept = { ...this.#kept, tree, ...(modes === this.#modes ? {} : packModes(modes)) };
    this.#modes = modes;
    return { before, kept: this.#kept, changes };
  }
}

/** What git has just written into the index, by path. Undefined if that cannot be read: then git determines the next snapshot, too. */
function indexEntries(git: ShadowGit): ReadonlyMap<string, TreeEntry> | undefined {
  try {
    return readGitIndex(readFileSync(git.index));
  } catch {
    return undefined;
  }
}

/** The tree of the newest snapshot that any process took; undefined if unknown. */
export function newestTree(git: ShadowGit): string | undefined {
  try {
    return readFileSync(newestFile(git), "latin1").trim();
  } catch {
    return undefined;
  }
}

/** The caller holds the lock. */
export function writeNewestTree(git: ShadowGit, tree: string): void {
  if (newestTree(git) === tree) return;
  const line = `${tree}\n`;
  // In its place, where one is: to replace a file has ext4 write its content to the disk at once.
  if (overwrite(newestFile(git), line)) return;
  const draft = join(git.directory, "newest.new");
  writeFileSync(draft, line, { mode: 0o600 });
  renameSync(draft, newestFile(git));
}

/** The caller holds the lock. Afterwards no process trusts what it remembers. */
export function forgetNewestTree(git: ShadowGit): void {
  rmSync(newestFile(git), { force: true });
}

function newestFile(git: ShadowGit): string {
  return join(git.directory, "refs", "newest");
}
