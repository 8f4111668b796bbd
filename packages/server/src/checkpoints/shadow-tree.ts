import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessLocks } from "../process/process-lock.ts";
import { CheckpointError } from "./checkpoint-error.ts";
import type { FileState, PathChange } from "./file-state.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { entriesOf, findKeptPaths } from "./kept-paths.ts";
import { type KeptTree, modeIn, packModes } from "./kept-tree.ts";
import { ShadowGit } from "./shadow-git.ts";

/** Milliseconds another process may hold the shadow repository. */
const patience = 30_000;
/** So many new files go into one pack instead of a file each. */
const packedFrom = 64;

/** Snapshots of one workspace, in a repository of our own outside of it. Several processes may share it: a lock orders them. */
export class ShadowTree {
  readonly #git: ShadowGit;
  readonly #rules: IgnoreRules;
  readonly #locks: ProcessLocks;
  #queue: Promise<unknown> = Promise.resolve();
  #prepared = false;
  #written: { readonly stamp: string; readonly tree: string } | undefined;

  /** @param directory of the repository, in the state directory; made at the first snapshot */
  constructor(options: { readonly directory: string; readonly root: string; readonly locks: ProcessLocks }) {
    this.#git = new ShadowGit(options.directory, options.root);
    this.#rules = new IgnoreRules(options.root);
    this.#locks = options.locks;
  }

  /** Keeps every file as it is now. The workspace and the user's repository are only read. Rejects with `CheckpointError`. */
  snapshot(signal?: AbortSignal): Promise<KeptTree> {
    return this.alone(async () => {
      try {
        return await this.#snapshot(signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CheckpointError) || error.code !== "git_failed") throw error;
        // A file changed or went away meanwhile, or a crash damaged the index: it is only a cache.
        rmSync(this.#git.index, { force: true });
        return this.#snapshot(signal);
      }
    });
  }

  /** What differs between two snapshots. */
  async changes(before: KeptTree, after: KeptTree): Promise<readonly PathChange[]> {
    const changed = new Map<string, PathChange>();
    if (before.tree !== after.tree) {
      const args = ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", before.tree, after.tree];
      const fields = entriesOf(await this.#git.run(args));
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const [oldMode = "", newMode = "", oldObject = "", newObject = ""] = (fields[at] ?? "").slice(1).split(" ");
        const path = fields[at + 1] ?? "";
        const isLeft = before.left.includes(path) || after.left.includes(path);
        changed.set(path, {
          path,
          before: isLeft ? { type: "unknown" } : stateOf(before, path, oldMode, oldObject),
          after: isLeft ? { type: "unknown" } : stateOf(after, path, newMode, newObject),
        });
      }
    }
    for (const change of await this.#modeChanges(before, after, changed)) changed.set(change.path, change);
    return [...changed.values()];
  }

  /** Contents by object id. Rejects with `CheckpointError` `not_kept` when one is gone or damaged. */
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

  /** Removes every object that neither these trees nor the newest snapshot needs. */
  prune(trees: readonly string[]): Promise<void> {
    return this.alone(async () => {
      if (!this.exists) return;
      this.#git.removeStaleLocks();
      const refs = join(this.#git.directory, "refs", "checkpoints");
      rmSync(refs, { recursive: true, force: true });
      mkdirSync(refs, { recursive: true, mode: 0o700 });
      for (const tree of new Set(trees)) writeFileSync(join(refs, tree), `${tree}\n`, { mode: 0o600 });
      await this.#git.run(["repack", "-a", "-d", "-q"]);
      await this.#git.run(["prune", "--expire=now"]);
      rmSync(refs, { recursive: true, force: true });
    });
  }

  /** Bytes of what is stored. */
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

  /** Runs something while no other process touches the repository. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(async () => {
      using _lock = await this.#lock();
      return await work();
    });
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #lock(): Promise<Disposable> {
    const end = performance.now() + patience;
    for (;;) {
      const attempt = this.#locks.tryAcquire(`checkpoints ${this.#git.root}`, "takes a snapshot");
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
    const options = signal === undefined ? {} : { signal };
    this.#git.removeStaleLocks();
    if (!this.#prepared || !this.exists) {
      await this.#git.prepare();
      chmodSync(this.#git.directory, 0o700);
      this.#prepared = true;
    }
    const patterns = await this.#rules.patterns(signal);
    writeFileSync(join(this.#git.directory, "info", "exclude"), patterns, { mode: 0o600 });
    const kept = await findKeptPaths(this.#git, await this.#rules.trackedIgnored(signal), options);
    if (kept.toForget.length > 0) {
      await this.#git.run(["update-index", "-z", "--force-remove", "--stdin"], {
        ...options,
        input: listOf(kept.toForget),
      });
    }
    if (kept.toUpdate.length > 0) {
      await this.#git.run(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], {
        ...options,
        input: listOf(kept.toUpdate),
        settings: kept.toUpdate.length < packedFrom ? [] : ["core.bigFileThreshold=1"],
      });
    }
    const isSame = kept.toForget.length === 0 && kept.toUpdate.length === 0 && this.#written?.stamp === this.#stamp();
    const tree = isSame && this.#written !== undefined ? this.#written.tree : await this.#writeTree(options);
    const digest = createHash("sha256").update(patterns).digest("hex").slice(0, 16);
    return { tree, ...packModes(kept.modes), left: [...kept.left], patterns: digest };
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

  /** Files of which nothing but permission bits changed that git does not store. */
  async #modeChanges(before: KeptTree, after: KeptTree, known: ReadonlyMap<string, PathChange>) {
    const same = before.plain === after.plain && before.executable === after.executable;
    const asked = same ? new Set([...Object.keys(before.modes), ...Object.keys(after.modes)]) : undefined;
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
        before: stateOf(before, path, gitMode, object),
        after: stateOf(after, path, gitMode, object),
      });
    }
    return changes;
  }
}

function stateOf(kept: KeptTree, path: string, gitMode: string, object: string): FileState {
  if (gitMode === "000000") return { type: "absent" };
  if (gitMode === "120000") return { type: "link", object };
  return { type: "file", object, mode: modeIn(kept, path, gitMode) };
}

function listOf(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join("");
}
