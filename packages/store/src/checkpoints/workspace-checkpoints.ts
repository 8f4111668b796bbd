import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { errorMessage } from "@gennai/protocol/error-message";
import { storeTrouble } from "../database/store-trouble.ts";
import { CheckpointError, type CheckpointErrorCode, checkpointTrouble } from "./checkpoint-error.ts";
import { CheckpointRecords } from "./checkpoint-records.ts";
import type { FileState, PathChange } from "./file-state.ts";
import type { KeptTree } from "./kept-tree.ts";
import { ShadowTree } from "./shadow-tree.ts";

/** Milliseconds after which checkpoints are removed, besides the limit of their number. */
const maxAge = 14 * 24 * 60 * 60_000;
const defaultMaxBytes = 2 * 1024 * 1024 * 1024;
const sweepEvery = 50;

/** File whose change alters the ignore rules. */
const ignoreFile = /(?:^|\/)\.gitignore$/;

export interface CheckpointDirectories {
  /** The server's state directory. */
  readonly stateDir: string;
  /** Real path of the workspace. */
  readonly root: string;
  readonly now?: () => number;
  /** Most bytes that are kept; 2 GiB by default. */
  readonly maxBytes?: number;
}

/** Directory (0700) of everything that is kept of a workspace's tree. */
export function checkpointDirectory({ stateDir, root }: Pick<CheckpointDirectories, "stateDir" | "root">): string {
  return join(stateDir, "checkpoints", workspaceIdOf(root).slice(0, 16));
}

/** Snapshots of a workspace around the calls that run something. */
export class WorkspaceCheckpoints implements AsyncDisposable {
  readonly #directory: string;
  readonly #tree: ShadowTree;
  readonly #records: CheckpointRecords;
  readonly #now: () => number;
  readonly #maxBytes: number;
  #opened = 0;
  /** Checkpoints that this process opened and has not closed: their calls may still run. */
  readonly #running = new Set<string>();
  #warm: Promise<unknown> | undefined;
  #problem: { readonly code: CheckpointErrorCode; readonly message: string } | undefined;
  readonly #disposed = new AbortController();

  constructor(place: CheckpointDirectories) {
    const directory = checkpointDirectory(place);
    this.#directory = directory;
    const locks = new ProcessLocks(join(place.stateDir, "locks"));
    this.#tree = new ShadowTree({ directory: join(directory, "repository"), root: place.root, locks });
    this.#records = new CheckpointRecords(join(directory, "records"));
    this.#now = place.now ?? Date.now;
    this.#maxBytes = place.maxBytes ?? defaultMaxBytes;
  }

  /** Why the last snapshot failed; undefined if it did not. */
  get problem(): { readonly code: CheckpointErrorCode; readonly message: string } | undefined {
    return this.#problem;
  }

  /** Stores in the background what the first snapshot would have to store; once. Never throws. */
  warmUp(): void {
    const { signal } = this.#disposed;
    this.#warm ??= Promise.resolve()
      .then(() => this.#kept(signal))
      .then(() => this.sweep())
      .catch(() => undefined);
  }

  /** Stores the tree before a call. Rejects with `CheckpointError`; then `problem` gives the reason until one succeeds. */
  async open(sessionId: string, signal: AbortSignal): Promise<string> {
    const checkpointId = `c-${randomBytes(8).toString("hex")}`;
    await this.#noting(signal, async () => {
      const before = await this.#tree.snapshot(signal);
      this.#records.add({ version: 1, checkpointId, sessionId, time: this.#now(), before });
    });
    this.#running.add(checkpointId);
    this.#opened += 1;
    if (this.#opened % sweepEvery === 0) await this.sweep().catch(() => undefined);
    return checkpointId;
  }

  /** Stores the tree after the call, and returns what the call changed. Rejects with `CheckpointError`. */
  async close(
    checkpointId: string,
    options: { readonly interrupted?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<readonly PathChange[]> {
    const record = this.#records.read(checkpointId);
    if (record === undefined) throw notKept();
    const interrupted = options.interrupted === true;
    const after = await this.#kept(options.signal).finally(() => this.#running.delete(checkpointId));
    const { checkpointId: id, sessionId, time, version, before } = record;
    // Another server may have closed the call as interrupted, which it was not.
    const closed = {
      version,
      checkpointId: id,
      sessionId,
      time,
      before,
      after,
      ...(interrupted ? { interrupted } : {}),
    };
    if (!this.#records.replace(closed)) throw notKept();
    return this.#certain(before, after, closed);
  }

  /**
   * What a call changed; undefined if that is no longer kept. Closes a call that was never closed. For a call that still runs,
   * returns its changes so far, and stores nothing.
   */
  async changesOf(checkpointId: string): Promise<readonly PathChange[] | undefined> {
    const record = this.#records.read(checkpointId);
    if (record === undefined) return undefined;
    if (record.after === undefined && this.#running.has(checkpointId)) {
      return this.#certain(record.before, await this.#kept(), { interrupted: true });
    }
    if (record.after === undefined) return this.close(checkpointId, { interrupted: true });
    return this.#certain(record.before, record.after, record);
  }

  isKept(checkpointId: string): boolean {
    return this.#records.read(checkpointId) !== undefined;
  }

  /** Contents by git's object id. Rejects with `CheckpointError` `not_kept`. */
  contents(objects: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    return this.#tree.read(objects);
  }

  /** Removes checkpoints that are too old or too many. */
  async sweep(): Promise<void> {
    const oldest = this.#now() - maxAge;
    const tooMuch = this.#tree.size() > this.#maxBytes;
    this.#records.remove((records) =>
      records.filter(({ time }, index) => time < oldest || (tooMuch && index < records.length / 2)),
    );
    if (this.#records.leftover !== undefined) await this.#prune();
  }

  /** Forgets what was kept for these sessions, and what neither the workspace nor another checkpoint holds any more. */
  async forgetSessions(sessionIds: ReadonlySet<string>): Promise<void> {
    this.#records.remove((records) => records.filter(({ sessionId }) => sessionIds.has(sessionId)));
    // What the newest snapshot holds is kept, and it may be of one of these sessions.
    await this.#tree.renew();
    await this.#prune();
  }

  /**
   * Deletes contents that only removed checkpoints had. Noted only afterwards, so that it is repeated after a failure or a kill.
   */
  async #prune(): Promise<void> {
    let seen: string | undefined;
    await this.#tree.prune(() => {
      const { records, leftover } = this.#records.look();
      seen = leftover;
      return records.flatMap(({ before, after }) => [before.tree, ...(after === undefined ? [] : [after.tree])]);
    });
    if (seen !== undefined) this.#records.clearLeftover(seen);
  }

  /**
   * Separates certain changes from those that someone else may have made. A snapshot cannot tell who changed a file while the
   * command ran, so content that only that file holds is never certain. But a file that is gone, has another mode, or has another
   * file's earlier content can be restored without loss.
   */
  async #certain(
    before: KeptTree,
    after: KeptTree,
    { interrupted = false }: { readonly interrupted?: boolean },
  ): Promise<readonly PathChange[]> {
    const changes = await this.#tree.changes(before, after);
    const otherRules = before.patterns !== after.patterns || changes.some(({ path }) => ignoreFile.test(path));
    const known = new Set(changes.flatMap((change) => objectOf(change.before) ?? []));
    return changes.map((change): PathChange => {
      // A file that appears because a rule changed may have existed before.
      const mayBeOlder = otherRules && change.before.type === "absent";
      // Its bytes are not kept, so that nothing may remove it.
      if (mayBeOlder && change.after.type === "unknown") return { ...change, before: { type: "unknown" } };
      if (interrupted || mayBeOlder) return { ...change, after: { type: "unknown" } };
      const object = objectOf(change.after);
      return object === undefined || known.has(object) ? change : { ...change, uncertain: true };
    });
  }

  #kept(signal?: AbortSignal): Promise<KeptTree> {
    return this.#noting(signal, () => this.#tree.snapshot(signal));
  }

  /** Records why something could not be stored, or that storing succeeded. */
  async #noting<Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> {
    try {
      const value = await work();
      this.#problem = undefined;
      return value;
    } catch (error) {
      signal?.throwIfAborted();
      const trouble = storeTrouble(error) && checkpointTrouble(error, this.#directory);
      const failure =
        error instanceof CheckpointError
          ? error
          : (trouble ?? new CheckpointError("git_failed", errorMessage(error), { cause: error }));
      this.#problem = { code: failure.code, message: failure.message };
      throw failure;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort();
    await this.#warm;
  }
}

function objectOf(state: FileState): string | undefined {
  return state.type === "file" || state.type === "link" ? state.object : undefined;
}

function notKept(): CheckpointError {
  return new CheckpointError("not_kept", "This checkpoint is no longer kept.");
}

/** The checkpoints of every workspace, shared by its sessions. Disposing ends work that is under way. */
export class CheckpointRegistry implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #open = new Map<string, WorkspaceCheckpoints>();

  constructor(options: { readonly stateDir: string }) {
    this.#stateDir = options.stateDir;
  }

  of({ root }: Pick<Workspace, "root">): WorkspaceCheckpoints {
    const known = this.#open.get(root);
    if (known !== undefined) return known;
    const opened = new WorkspaceCheckpoints({ stateDir: this.#stateDir, root });
    this.#open.set(root, opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((each) => each[Symbol.asyncDispose]()));
  }
}
