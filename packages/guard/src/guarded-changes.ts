import { dirname } from "node:path";
import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import { type Effect, type FileWrite, runsSomething } from "@gennai/governance/effect";
import type { Policy } from "@gennai/governance/policy";
import type { FileChange } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { allow } from "@gennai/governance/verdict";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { askWithoutCheckpoint } from "@gennai/sessions/restore/turn-checkpoints";
import type { Session } from "@gennai/sessions/session/session";
import { maxFileBytes } from "@gennai/sessions/tools/text-limits";
import type { ToolFact } from "@gennai/sessions/tools/tool-fact";
import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import type { FileState, PathChange } from "@gennai/store/checkpoints/file-state";
import type { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";

/** Milliseconds for keeping what a command may change: less than an agent's hook waits for its answer. */
const keepMs = 10_000;
/** Most files that one command changed and that are recorded. */
const maxFiles = 5_000;
/** Files of a command whose contents are in memory at once. */
const batch = 50;

/** What a call changed, for its result and the session's change set. */
export interface Changed {
  readonly changes: readonly FileChange[];
  readonly facts: readonly ToolFact[];
}

/** Tells what a call changed since. Rejects only when the store fails. */
export type Kept = () => Promise<Changed>;

/** A file or link at one moment. */
interface Held {
  readonly bytes: Uint8Array;
  readonly mode?: number | undefined;
  readonly isLink?: boolean;
}

/** A path before and after a call; undefined: there was, or is, nothing. */
interface HeldChange {
  readonly path: string;
  readonly before: Held | undefined;
  readonly after: Held | undefined;
  /** Directories that the call must have made for it, outermost first. */
  readonly made?: readonly string[];
}

/**
 * Keeps what the calls of another agent may change before they go on, so that people can review it and take it back: the files
 * that a call names, or all files of the workspace for one that runs a program. What a person saves while a program runs cannot be
 * told from its own changes.
 */
export class GuardedChanges {
  readonly #session: Session;
  readonly #snapshots: WorkspaceCheckpoints;

  readonly #warn: (text: string) => void;

  /** @param warn tells people what cannot be taken back */
  constructor(session: Session, warn: (text: string) => void) {
    this.#session = session;
    this.#warn = warn;
    this.#snapshots = session.services.checkpointsOf(session.workspace);
  }

  /** Asks before a call whose changes could not be taken back. */
  get policy(): Policy {
    return {
      name: "checkpoints",
      kind: "guard",
      decide: ({ analysis }) => {
        const { problem } = this.#snapshots;
        return analysis.effects.some(runsSomething) ? askWithoutCheckpoint(problem) : allow;
      },
    };
  }

  /** Throws `ToolFailure` if it could not be kept, and nobody was asked about that: then the call must not run. */
  async keep(effects: readonly Effect[], signal: AbortSignal): Promise<Kept> {
    if (effects.some(runsSomething)) return this.#keepAll(signal);
    return this.#keepNamed(effects.filter((effect) => effect.type === "write"));
  }

  async #keepNamed(writes: readonly FileWrite[]): Promise<Kept> {
    const { services } = this.#session;
    const files = await Promise.all(
      writes
        .filter(({ path }) => path.inside)
        .map(async ({ path: { relative: path } }) => {
          const before = await this.#heldAt(path);
          if (before !== undefined) await services.blobs.put(before.bytes, "application/octet-stream");
          return { path, before, made: before === undefined ? await this.#missingAbove(path) : [] };
        }),
    );
    return async () => {
      const records = files.map(async (file) => {
        try {
          return this.#recordOf({ ...file, after: await this.#heldAt(file.path) });
        } catch (error) {
          if (!(error instanceof ToolFailure)) throw error;
          this.#warn(`What a call changed in ${file.path} cannot be undone: ${error.message}`);
          return [];
        }
      });
      return changedOf((await Promise.all(records)).flat());
    };
  }

  /** Undefined for all but a regular file. */
  async #heldAt(path: string): Promise<Held | undefined> {
    const { workspace } = this.#session;
    const at = await workspace.resolve(path, { isRecorded: true });
    const stat = await workspace.stat(at);
    if (stat?.kind !== "file") return undefined;
    return { bytes: (await workspace.read(at, { maxBytes: maxFileBytes })).bytes, mode: stat.mode };
  }

  async #missingAbove(path: string): Promise<readonly string[]> {
    const { workspace } = this.#session;
    const missing: string[] = [];
    for (let above = dirname(path); above !== "."; above = dirname(above)) {
      if ((await workspace.stat(await workspace.resolve(above))) !== undefined) break;
      missing.unshift(above);
    }
    return missing;
  }

  async #keepAll(signal: AbortSignal): Promise<Kept> {
    const isAsked = this.#snapshots.problem !== undefined;
    const opened = await this.#snapshots
      .open(this.#session.id, AbortSignal.any([signal, AbortSignal.timeout(keepMs)]))
      .catch((error: unknown) => {
        signal.throwIfAborted();
        if (isAsked || (error instanceof CheckpointError && error.code === "git_missing")) return undefined;
        this.#snapshots.warmUp();
        throw new ToolFailure("no_checkpoint", "The files are not saved yet, so this call could not be undone.", {
          failureClass: "permission_denied",
          hint: "Call it again in some seconds.",
          retryable: true,
          cause: error,
        });
      });
    return async () => {
      if (opened === undefined) return changedOf([]);
      try {
        return changedOf(await this.#recordsOf(await this.#snapshots.close(opened)));
      } catch (error) {
        if (!(error instanceof CheckpointError)) throw error;
        this.#warn(`What a call changed cannot be undone: ${error.message}`);
        return changedOf([]);
      }
    };
  }

  /** Throws `CheckpointError` for too many. */
  async #recordsOf(all: readonly PathChange[]): Promise<readonly FileChangeRecord[]> {
    const { services } = this.#session;
    const changes = all.filter(isKnown);
    if (changes.length > maxFiles) {
      throw new CheckpointError("not_kept", `${changes.length} files changed; ${maxFiles} are recorded at most.`);
    }
    if (changes.length < all.length) {
      this.#warn(`${all.length - changes.length} changed files were not saved before, so they cannot be undone.`);
    }
    const records: FileChangeRecord[] = [];
    for (let at = 0; at < changes.length; at += batch) {
      const some = changes.slice(at, at + batch);
      const contents = await this.#snapshots.contents(some.flatMap(({ before, after }) => objectsOf(before, after)));
      const held = (state: KnownState): Held | undefined => {
        const bytes = state.type === "absent" ? undefined : contents.get(state.object ?? "");
        if (state.type === "absent" || bytes === undefined) return undefined;
        return { bytes, mode: state.mode, isLink: state.type === "link" };
      };
      for (const { path, before, after } of some) {
        const change = { path, before: held(before), after: held(after) };
        if (change.before !== undefined) await services.blobs.put(change.before.bytes, "application/octet-stream");
        records.push(...this.#recordOf(change));
      }
    }
    return records;
  }

  /** None if nothing changed. */
  #recordOf({ path, before, after, made = [] }: HeldChange): readonly FileChangeRecord[] {
    const beforeSha256 = before && sha256(before.bytes);
    const afterSha256 = after && sha256(after.bytes);
    const isSame = before?.mode === after?.mode && before?.isLink === after?.isLink;
    if (beforeSha256 === afterSha256 && isSame) return [];
    if (after !== undefined && afterSha256 !== undefined) this.#session.seen.keep(afterSha256, after.bytes);
    return [
      {
        path,
        operation: before === undefined ? "create" : after === undefined ? "delete" : "update",
        ...(beforeSha256 === undefined ? {} : { beforeSha256 }),
        ...(afterSha256 === undefined ? {} : { afterSha256 }),
        ...(before?.mode === undefined ? {} : { beforeMode: before.mode }),
        ...(after?.mode === undefined ? {} : { afterMode: after.mode }),
        ...(before?.isLink === true ? { beforeLink: true } : {}),
        ...(after?.isLink === true ? { afterLink: true } : {}),
        ...(made.length === 0 || before !== undefined ? {} : { madeDirectories: made }),
      },
    ];
  }
}

type KnownState = Exclude<FileState, { readonly type: "unknown" }>;
interface KnownChange extends PathChange {
  readonly before: KnownState;
  readonly after: KnownState;
}

function isKnown(change: PathChange): change is KnownChange {
  return change.before.type !== "unknown" && change.after.type !== "unknown";
}

function objectsOf(...states: readonly KnownState[]): readonly string[] {
  return states.flatMap((state) => (state.type === "absent" ? [] : (state.object ?? [])));
}

function changedOf(records: readonly FileChangeRecord[]): Changed {
  if (records.length === 0) return { changes: [], facts: [] };
  const changes = records.map(
    ({ path, operation, beforeSha256, afterSha256 }): FileChange => ({
      path,
      operation,
      beforeSha256,
      afterSha256,
      blocks: [],
    }),
  );
  return { changes, facts: [{ type: "change-set", files: records }] };
}
