import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "@gennai/machine/process/file-lock";
import { hasCode } from "@gennai/machine/system-error";
import * as z from "zod";
import { CheckpointError } from "./checkpoint-error.ts";
import { keptTreeSchema } from "./snapshot/kept-tree.ts";

const recordSchema = z.strictObject({
  version: z.literal(1),
  checkpointId: z.string(),
  sessionId: z.string(),
  /** Milliseconds since the epoch. */
  time: z.number(),
  before: keptTreeSchema,
  /** Absent while the call runs, and when the server ended meanwhile. */
  after: z.optional(keptTreeSchema),
  /** `after` was taken by another process than the one that ran the call: whatever else changed meanwhile is in it. */
  interrupted: z.optional(z.boolean()),
});

/** Snapshots around one call that ran something. */
export type CheckpointRecord = z.infer<typeof recordSchema>;

/** Checkpoints that are kept of one workspace at most; the oldest goes first. */
export const maxCheckpoints = 200;
/** Milliseconds for another process to write or remove some of them. */
const maxWaitMs = 5_000;

/**
 * The records of one workspace, a file each; each is there whole or not at all. There are never more than the limit, whichever
 * processes add to them, and none goes for the limit's sake that is among the newest.
 */
export class CheckpointRecords {
  readonly #directory: string;
  readonly #limit: number;
  /** Of records that were read before: a record never changes its time. */
  readonly #times = new Map<string, number>();

  constructor(directory: string, { limit = maxCheckpoints }: { readonly limit?: number } = {}) {
    this.#directory = directory;
    this.#limit = limit;
  }

  /** Adds one, and lets the oldest go for it where there are as many as may be. Throws `CheckpointError` `busy`. */
  add(record: CheckpointRecord): void {
    using _lock = this.#lock();
    const draft = this.#draft(record);
    // First they go: however this ends, there are not too many, and what went would have gone.
    this.#removeOldest(this.#limit - 1);
    renameSync(draft, this.#file(record.checkpointId));
    this.#times.set(record.checkpointId, record.time);
  }

  /** Writes one anew that is kept. False: it was let go meanwhile, and stays away. Throws `CheckpointError` `busy`. */
  replace(record: CheckpointRecord): boolean {
    using _lock = this.#lock();
    if (this.read(record.checkpointId) === undefined) return false;
    renameSync(this.#draft(record), this.#file(record.checkpointId));
    return true;
  }

  /** undefined when it is not kept, or damaged. */
  read(checkpointId: string): CheckpointRecord | undefined {
    if (!/^[0-9a-z-]{1,64}$/.test(checkpointId)) return undefined;
    try {
      return recordSchema.parse(JSON.parse(readFileSync(this.#file(checkpointId), "utf8")));
    } catch {
      return undefined;
    }
  }

  /** Oldest first. */
  all(): readonly CheckpointRecord[] {
    return this.#ids()
      .map((id) => this.read(id))
      .filter((record) => record !== undefined)
      .sort((one, other) => one.time - other.time || (one.checkpointId < other.checkpointId ? -1 : 1));
  }

  /**
   * Removes those that are chosen of all that are there, oldest first, and what is beyond the limit of an earlier version.
   * Throws `CheckpointError` `busy`.
   */
  remove(choose: (records: readonly CheckpointRecord[]) => readonly CheckpointRecord[]): void {
    using _lock = this.#lock();
    this.#remove(choose(this.all()).map(({ checkpointId }) => checkpointId));
    this.#removeOldest(this.#limit);
  }

  /**
   * What is kept, oldest first, and the mark of removals whose contents may still be there, which stays over restarts; undefined:
   * there are none. Throws `CheckpointError` `busy`.
   */
  look(): { readonly records: readonly CheckpointRecord[]; readonly leftover: string | undefined } {
    using _lock = this.#lock();
    return { records: this.all(), leftover: this.leftover };
  }

  get leftover(): string | undefined {
    return readIfThere(this.#leftover);
  }

  /** Contents of what was removed up to that mark are gone. Throws `CheckpointError` `busy`. */
  clearLeftover(mark: string): void {
    using _lock = this.#lock();
    if (this.leftover === mark) rmSync(this.#leftover, { force: true });
  }

  #removeOldest(most: number): void {
    const ids = this.#ids();
    if (ids.length <= most) return;
    const known = ids.map((id) => ({ id, time: this.#times.get(id) ?? this.read(id)?.time ?? 0 }));
    for (const id of this.#times.keys()) if (!ids.includes(id)) this.#times.delete(id);
    for (const { id, time } of known) this.#times.set(id, time);
    // One that is damaged counts as the oldest.
    known.sort((one, other) => one.time - other.time || (one.id < other.id ? -1 : 1));
    this.#remove(known.slice(0, ids.length - most).map(({ id }) => id));
  }

  #remove(ids: readonly string[]): void {
    if (ids.length > 0) writeFileSync(this.#leftover, randomUUID(), { mode: 0o600 });
    for (const id of ids) {
      rmSync(this.#file(id), { force: true });
      rmSync(`${this.#file(id)}.new`, { force: true });
      this.#times.delete(id);
    }
  }

  #draft(record: CheckpointRecord): string {
    const draft = `${this.#file(record.checkpointId)}.new`;
    writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
    return draft;
  }

  #lock(): Disposable {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const lock = tryFileLock(join(this.#directory, "taking"), { waitMs: maxWaitMs });
    if (lock === undefined) throw new CheckpointError("busy", "Another process holds this workspace's checkpoints.");
    return lock;
  }

  get #leftover(): string {
    return join(this.#directory, "leftover");
  }

  #ids(): readonly string[] {
    try {
      return readdirSync(this.#directory).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -5)] : []));
    } catch {
      return [];
    }
  }

  #file(checkpointId: string): string {
    return join(this.#directory, `${checkpointId}.json`);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
