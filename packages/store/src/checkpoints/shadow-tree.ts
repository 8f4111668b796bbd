import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import pLimit from "p-limit";
import { CheckpointError } from "./checkpoint-error.ts";
import type { FileState, PathChange } from "./file-state.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { entriesOf, findKeptPaths } from "./kept-paths.ts";
import { type KeptTree, modeIn, packModes } from "./kept-tree.ts";
import { forgetNewestTree, newestTree, writeNewestTree } from "./newest-tree.ts";
import { ShadowGit } from "./shadow-git.ts";

/** Milliseconds for which another process may hold the shadow repository. */
const timeoutMs = 30_000;
/** From this number on, new files go into one pack instead of one file each. */
const packedFrom = 64;
/** A tree's entry for a path. */
interface TreeEntry {
  /** Mode as git writes it, e.g. `100644`. */
  readonly mode: string;
  readonly object: string;
}

/** A path whose entries differ in two trees; undefined where there is none. */
interface TreeChange {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/** Snapshots of one workspace, in a repository of our own outside of it. Several processes may share it: a lock orders them. */
export class ShadowTree {
  readonly #git: ShadowGit;
  readonly #rules: IgnoreRules;
  readonly #locks: ProcessLocks;
  readonly #inOrder = pLimit(1);
  #prepared = false;
  #written: { readonly stamp: string; readonly tree: string } | undefined;

  /** @param directory of the repository, in the state directory; created with the first snapshot */
  constructor(options: { readonly directory: string; readonly root: string; readonly locks: ProcessLocks }) {
    this.#git = new ShadowGit(options.directory, options.root);
    this.#rules = new IgnoreRules(options.root);
    this.#locks = options.locks;
  }

  /**
   * Stores the present state of every file. Only reads the workspace and the user's repository. Rejects with `CheckpointError`.
   */
  snapshot(signal?: AbortSignal): Promise<KeptTree> {
    return this.alone(async () => {
      try {
        return await this.#snapshot(signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CheckpointError) || error.code !== "git_failed") throw error;
        // A file changed or vanished meanwhile, or a crash damaged the index, which is only a cache.
        this.#forgetNewest();
        return this.#snapshot(signal);
      }
    });
  }

  /** Afterwards the newest snapshot holds what the workspace does now; of one that is gone or cannot be read there is none. */
  async renew(): Promise<void> {
    if (this.exists) await this.snapshot().catch(() => this.alone(async () => this.#forgetNewest()));
  }

  #forgetNewest(): void {
    rmSync(this.#git.index, { force: true });
    forgetNewestTree(this.#git);
  }

  /** The differences between two snapshots. */
  async changes(before: KeptTree, after: KeptTree): Promise<readonly PathChange[]> {
    const changed = new Map<string, PathChange>();
    for (const { path, before: old, after: now } of await this.#treeChanges(before.tree, after.tree)) {
      const isLeft = before.left.includes(path) || after.left.includes(path);
      changed.set(path, {
        path,
        before: isLeft ? unknown : stateOf(before, path, old),
        after: isLeft ? unknown : stateOf(after, path, now),
      });
    }
    for (const change of await this.#modeChanges(before, after, changed)) changed.set(change.path, change);
    // Files that were not kept, and came or went as a whole.
    for (const path of [...before.left, ...after.left].filter((left) => !changed.has(left))) {
      const [was, is] = [before.left.includes(path), after.left.includes(path)];
      if (was !== is) changed.set(path, { path, before: was ? unknown : absent, after: is ? unknown : absent });
    }
    return [...changed.values()];
  }

  /** Contents by object id. Rejects with `CheckpointError` `not_kept` if one is gone or damaged. */
  async read(objects: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    const wanted = [...new Set(objects)];
    if (wanted.length === 0) return found;
    const output = await this.#git.run(["cat-file", "--batch"], { input: `${wanted.join("\n")}\n` });
    let at = 0;
    for (const object of wanted) {
      const end = output.indexOf(10, at);
      const header = output.toString("latin1", at, end);
      const match = /^([0-9a-f]+) blob (\d+)$/.exec(header);
      if (match === null) throw new CheckpointError("not_kept", "The content from before is no longer kept.");
      const size = Number(match[2]);
      found.set(object, output.subarray(end + 1, end + 1 + size));
      at = end + 1 + size + 1;
    }
    return found;
  }

  /** Removes every object that neither these trees nor the newest snapshot need. */
  prune(trees: () => readonly string[]): Promise<void> {
    return this.alone(async () => {
      if (!this.exists) return;
      this.#git.removeStaleLocks();
      await this.#bringIndexUp();
      const refs = join(this.#git.directory, "refs", "checkpoints");
      rmSync(refs, { recursive: true, force: true });
      mkdirSync(refs, { recursive: true, mode: 0o700 });
      for (const tree of new Set(trees())) writeFileSync(join(refs, tree), `${tree}\n`, { mode: 0o600 });
      await this.#git.run(["repack", "-a", "-d", "-q"]);
      await this.#git.run(["prune", "--expire=now"]);
      rmSync(refs, { recursive: true, force: true });
    });
  }

  /** Updates the index to the newest snapshot: it must not keep anything that no newer snapshot contains. */
  async #bringIndexUp(): Promise<void> {
    const tree = newestTree(this.#git);
    if (tree === undefined) return;
    try {
      await this.#git.run(["read-tree", "--reset", tree]);
    } catch {
      // A crash damaged one of them: the next snapshot starts without an index.
      this.#forgetNewest();
    }
  }

  /** Bytes of all stored objects. */
  size(): number {
    if (!this.exists) return 0;
    const objects = join(this.#git.directory, "objects");
    return readdirSync(objects, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce(
        (sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
  }

  get exists(): boolean {
    return existsSync(join(this.#git.directory, "HEAD"));
  }

  /** Runs `work` while no other process uses the repository. @param options.isLast afterwards there is none */
  alone<T>(work: () => Promise<T>, { isLast = false }: { readonly isLast?: boolean } = {}): Promise<T> {
    return this.#inOrder(async () => {
      using _lock = await this.#lock({ stays: !isLast });
      return await work();
    });
  }

  async #lock(options: { readonly stays: boolean }): Promise<Disposable> {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const attempt = this.#locks.tryAcquire(`checkpoints ${this.#git.root}`, "takes a snapshot", options);
      if (attempt.type === "acquired") return attempt.lock;
      if (performance.now() > end) {
        throw new CheckpointError(
          "busy",
          `Process ${attempt.pid} ${attempt.what} of this workspace: wait for its end.`,
        );
      }
      await delay(10);
    }
  }

  async #snapshot(signal: AbortSignal | undefined): Promise<KeptTree> {
    const patterns = await this.#rules.patterns(signal);
    const tracked = await this.#rules.trackedIgnored(signal);
    const options = signal === undefined ? {} : { signal };
    this.#git.removeStaleLocks();
    if (!this.#prepared || !this.exists) {
      this.#git.prepare();
      chmodSync(this.#git.directory, 0o700);
      this.#prepared = true;
    }
    writeFileSync(join(this.#git.directory, "info", "exclude"), patterns, { mode: 0o600 });
    const paths = await findKeptPaths(this.#git, tracked, options);
    if (paths.toForget.length > 0) {
      await this.#git.run(["update-index", "-z", "--force-remove", "--stdin"], {
        ...options,
        input: listOf(paths.toForget),
      });
    }
    if (paths.toUpdate.length > 0) {
      await this.#git.run(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], {
        ...options,
        input: listOf(paths.toUpdate),
        settings: paths.toUpdate.length < packedFrom ? [] : ["core.bigFileThreshold=1"],
      });
    }
    const isSame = paths.toForget.length === 0 && paths.toUpdate.length === 0 && this.#written?.stamp === this.#stamp();
    const tree = isSame && this.#written !== undefined ? this.#written.tree : await this.#writeTree(options);
    const digest = createHash("sha256").update(patterns).digest("hex").slice(0, 16);
    writeNewestTree(this.#git, tree);
    return { tree, ...packModes(paths.modes), left: [...paths.left], patterns: digest };
  }

  async #writeTree(options: { readonly signal?: AbortSignal }): Promise<string> {
    const tree = (await this.#git.run(["write-tree"], options)).toString("latin1").trim();
    this.#written = { stamp: this.#stamp(), tree };
    return tree;
  }

  /** Changes with the index, whoever wrote it. */
  #stamp(): string {
    const { mtimeNs, ino, size } = statSync(this.#git.index, { bigint: true, throwIfNoEntry: false }) ?? {};
    return `${mtimeNs} ${ino} ${size}`;
  }

  /** Paths whose entries differ in two trees. */
  async #treeChanges(before: string, after: string): Promise<readonly TreeChange[]> {
    if (before === after) return [];
    const args = ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", before, after];
    const fields = entriesOf(await this.#git.run(args));
    const changes: TreeChange[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [oldMode = "", newMode = "", oldObject = "", newObject = ""] = (fields[at] ?? "").slice(1).split(" ");
      changes.push({
        path: fields[at + 1] ?? "",
        before: oldMode === "000000" ? undefined : { mode: oldMode, object: oldObject },
        after: newMode === "000000" ? undefined : { mode: newMode, object: newObject },
      });
    }
    return changes;
  }

  /** Files of which only permission bits changed that git does not store. */
  async #modeChanges(before: KeptTree, after: KeptTree, known: ReadonlyMap<string, PathChange>) {
    const same = before.plain === after.plain && before.executable === after.executable;
    const named = [...Object.keys(before.modes), ...Object.keys(after.modes)];
    const asked = same ? new Set(named.filter((path) => before.modes[path] !== after.modes[path])) : undefined;
    if (asked?.size === 0) return [];
    const changes: PathChange[] = [];
    for (const entry of entriesOf(await this.#git.run(["ls-tree", "-r", "-z", after.tree]))) {
      const tab = entry.indexOf("\t");
      const path = entry.slice(tab + 1);
      const [gitMode = "", , object = ""] = entry.slice(0, tab).split(" ");
      if (known.has(path) || asked?.has(path) === false || gitMode === "120000") continue;
      if (modeIn(before, path, gitMode) === modeIn(after, path, gitMode)) continue;
      changes.push({
        path,
        before: stateOf(before, path, { mode: gitMode, object }),
        after: stateOf(after, path, { mode: gitMode, object }),
      });
    }
    return changes;
  }
}

const unknown: FileState = { type: "unknown" };
const absent: FileState = { type: "absent" };

function stateOf(kept: KeptTree, path: string, entry: TreeEntry | undefined): FileState {
  if (entry === undefined) return absent;
  const { mode, object } = entry;
  return mode === "120000" ? { type: "link", object } : { type: "file", object, mode: modeIn(kept, path, mode) };
}

function listOf(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join("");
}
