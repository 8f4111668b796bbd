import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "@gennai/machine/process/locks/file-lock";
import { hasCode } from "@gennai/machine/system-error";
import * as z from "zod";
import { CheckpointError, checkpointTrouble } from "./checkpoint-error.ts";
import { keptTreeSchema } from "./kept-tree.ts";

const recordSchema = z.strictObject({
  version: z.literal(1),
  checkpointId: z.string(),
  sessionId: z.string(),
  /** Milliseconds since the epoch. */
  time: z.number(),
  before: keptTreeSchema,
  /** Absent while the call runs, and if the server ended meanwhile. */
  after: z.optional(keptTreeSchema),
  /** True if another process than the one that ran the call took `after`: it then includes all other changes made meanwhile. */
  interrupted: z.optional(z.boolean()),
  /** No longer used; in records of earlier versions. */
  own: z.optional(z.array(z.string())),
  /**
   * Rises within a workspace, unlike clocks, which may be set back; given when the record is added. Absent in the oldest records.
   */
  order: z.optional(z.number().int().positive()),
});

/** Snapshots around one call that ran something. */
export type CheckpointRecord = z.infer<typeof recordSchema>;

/** Most checkpoints kept of one workspace; the oldest is removed first. */
export const maxCheckpoints = 200;
/** Milliseconds to wait while another process writes or removes records. */
const maxWaitMs = 5_000;

/**
 * The records of one workspace, one file each; a file is complete or absent. There are never more than the limit, whichever
 * processes add records, and the limit never removes one of the newest. Throws `CheckpointError`: `busy`, and a code for trouble
 * with the disk.
 */
export class CheckpointRecords {
  readonly #directory: string;
  readonly #limit: number;
  /** Order of the records read before, which never changes. */
  readonly #places = new Map<string, Place>();

  constructor(directory: string, { limit = maxCheckpoints }: { readonly limit?: number } = {}) {
    this.#directory = directory;
    this.#limit = limit;
  }

  /** Adds a record as the newest, and removes the oldest if the limit is reached. */
  add(record: CheckpointRecord): void {
    this.#alone(() => {
      const placed = this.#placed();
      const added = { ...record, order: Math.max(0, ...placed.map(({ order }) => order)) + 1 };
      const draft = this.#draft(added);
      // Removed first, so that there are never too many; these would be removed in any case.
      this.#removeOldest(placed, this.#limit - 1);
      renameSync(draft, this.#file(record.checkpointId));
      this.#places.set(record.checkpointId, placeOf(added));
    });
  }

  /** Rewrites a kept record in its place. False if it was removed meanwhile: then it is not written. */
  replace(record: CheckpointRecord): boolean {
    return this.#alone(() => {
      const kept = this.read(record.checkpointId);
      if (kept === undefined) return false;
      renameSync(this.#draft({ ...record, order: kept.order }), this.#file(record.checkpointId));
      return true;
    });
  }

  /** Undefined if the record is not kept, or damaged. */
  read(checkpointId: string): CheckpointRecord | undefined {
    if (!/^[0-9a-z-]{1,64}$/.test(checkpointId)) return undefined;
    const text = this.#named(() => readIfThere(this.#file(checkpointId)));
    try {
      return text === undefined ? undefined : recordSchema.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  /** Oldest first. */
  all(): readonly CheckpointRecord[] {
    return this.#named(() =>
      this.#ids()
        .map((id) => this.read(id))
        .filter((record) => record !== undefined)
        .sort((one, other) => byAge(placeOf(one), placeOf(other))),
    );
  }

  /** Removes the chosen ones of all records (passed oldest first), and those beyond the limit of an earlier version. */
  remove(choose: (records: readonly CheckpointRecord[]) => readonly CheckpointRecord[]): void {
    this.#alone(() => {
      this.#remove(choose(this.all()).map(({ checkpointId }) => checkpointId));
      this.#removeOldest(this.#placed(), this.#limit);
    });
  }

  /**
   * The kept checkpoints, oldest first, and the mark of unfinished removals, which survives restarts; undefined if there is none.
   */
  look(): { readonly records: readonly CheckpointRecord[]; readonly leftover: string | undefined } {
    return this.#alone(() => ({ records: this.all(), leftover: this.leftover }));
  }

  get leftover(): string | undefined {
    return this.#named(() => readIfThere(this.#leftover));
  }

  /** Clears the mark, once the contents of everything removed up to it are gone. */
  clearLeftover(mark: string): void {
    this.#alone(() => {
      if (this.leftover === mark) rmSync(this.#leftover, { force: true });
    });
  }

  /** All records, oldest first. A damaged one counts as the oldest. */
  #placed(): readonly Place[] {
    const ids = this.#ids();
    const placed = ids.map((id) => this.#places.get(id) ?? placeOf(this.read(id) ?? { checkpointId: id, time: 0 }));
    this.#places.clear();
    for (const place of placed) this.#places.set(place.id, place);
    return placed.sort(byAge);
  }

  #removeOldest(placed: readonly Place[], most: number): void {
    this.#remove(placed.slice(0, Math.max(0, placed.length - most)).map(({ id }) => id));
  }

  #remove(ids: readonly string[]): void {
    if (ids.length > 0) writeFileSync(this.#leftover, randomUUID(), { mode: 0o600 });
    for (const id of ids) {
      rmSync(this.#file(id), { force: true });
      this.#places.delete(id);
    }
  }

  #draft(record: CheckpointRecord): string {
    const draft = `${this.#file(record.checkpointId)}.new`;
    writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
    return draft;
  }

  /** Runs `work` while no other process writes or removes records. Any drafts then belong to a killed process. */
  #alone<Value>(work: () => Value): Value {
    return this.#named(() => {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      using lock = tryFileLock(join(this.#directory, "taking"), { waitMs: maxWaitMs });
      if (lock === undefined) throw new CheckpointError("busy", "Another process holds this workspace's checkpoints.");
      for (const name of readdirSync(this.#directory)) {
        if (name.endsWith(".json.new")) rmSync(join(this.#directory, name), { force: true });
      }
      return work();
    });
  }

  #named<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      throw checkpointTrouble(error, this.#directory) ?? error;
    }
  }

  get #leftover(): string {
    return join(this.#directory, "leftover");
  }

  #ids(): readonly string[] {
    try {
      return readdirSync(this.#directory).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -5)] : []));
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  #file(checkpointId: string): string {
    return join(this.#directory, `${checkpointId}.json`);
  }
}

interface Place {
  readonly id: string;
  /** 0 if the record has no order. */
  readonly order: number;
  /** As in a record. */
  readonly time: number;
}

function placeOf({ checkpointId, order = 0, time }: Pick<CheckpointRecord, "checkpointId" | "order" | "time">): Place {
  return { id: checkpointId, order, time };
}

function byAge(one: Place, other: Place): number {
  return one.order - other.order || one.time - other.time || (one.id < other.id ? -1 : 1);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
