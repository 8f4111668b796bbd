import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
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

/** The records of one workspace, a file each; each is there whole or not at all. */
export class CheckpointRecords {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  write(record: CheckpointRecord): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const file = this.#file(record.checkpointId);
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.new`, file);
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
      .sort((one, other) => one.time - other.time);
  }

  remove(checkpointIds: Iterable<string>): void {
    for (const id of checkpointIds) {
      rmSync(this.#file(id), { force: true });
      rmSync(`${this.#file(id)}.new`, { force: true });
    }
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
