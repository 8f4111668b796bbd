import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { ownerRuns, thisOwner } from "@gennai/machine/process/locks/journal-owner";
import { readChecked } from "@gennai/machine/read-checked";
import { replaceFileSync } from "@gennai/machine/replace-file";
import { ServiceError } from "@gennai/machine/service-error";
import { attemptsPlace } from "@gennai/machine/workspace/paths/attempt-copy";
import {
  type Attempt,
  type AttemptSet,
  attemptSetFromJson,
  attemptSetToJson,
} from "@gennai/protocol/model/session/attempt";
import * as z from "zod";
import { withAttempts } from "./attempt.ts";

const copiesSchema = z.strictObject({ owner: z.string(), place: z.string() });

const recordSchema = z.strictObject({
  version: z.literal(2),
  workspace: z.string(),
  user: z.string(),
  clientId: z.string(),
  set: z.json().transform((json, context) => {
    try {
      return attemptSetFromJson(json);
    } catch {
      context.addIssue({ code: "custom", message: "is no set of attempts" });
      return z.NEVER;
    }
  }),
});

/** A set of attempts, and whose it is. */
export interface AttemptRecord {
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Empty on a server with one user. */
  readonly user: string;
  /** The client's id for the request: repeating it gives the same attempts. */
  readonly clientId: string;
  readonly set: AttemptSet;
}

/** Maximum per workspace; the oldest are dropped. */
const maxOfWorkspace = 10;
const maxAgeMs = 14 * 24 * 60 * 60 * 1000;
/** Milliseconds within which a process that creates a directory also claims it. */
const untilClaimed = 60_000;

/**
 * The directory in which one prompt is tried. If this process dies, the copies are removed and the record of the attempts
 * stays.
 */
export interface OpenAttempts {
  readonly id: string;
  /** Next to the workspace; contains the working copies. */
  readonly place: string;
  /** Stores the bytes under their digest. */
  keep(sha256: string, bytes: Uint8Array): void;
  /** Saves the state of the attempts. Durable when it returns. */
  write(record: AttemptRecord): void;
}

/** Results of attempts in the state directory, so that a user can look at them and take one. */
export class KeptAttempts {
  readonly #directory: string;

  /** @param stateDir private, real path */
  constructor(stateDir: string) {
    this.#directory = join(stateDir, "attempts");
  }

  /** Removes the copies of processes that died, marks their attempts as ended, and drops those that are too old. */
  async recover(now: number): Promise<void> {
    for (const id of this.#ids()) {
      const copies = this.#copiesOf(id);
      if (copies !== undefined && ownerRuns(copies.owner)) continue;
      if (copies !== undefined) await this.close({ id, place: copies.place });
      else if (this.#read(id) === undefined && this.#isOld(id, now)) await this.#remove(id);
    }
    const counts = new Map<string, number>();
    for (const { workspace, set } of this.list()) {
      const count = (counts.get(workspace) ?? 0) + 1;
      counts.set(workspace, count);
      const isOver = count > maxOfWorkspace || now - set.startedAt > maxAgeMs;
      if (isOver && this.#copiesOf(set.id) === undefined) await this.#remove(set.id);
    }
  }

  /** Throws the system's error if no directory can be created next to the workspace. The caller must call `close`. */
  open(workspace: string): OpenAttempts {
    const id = randomBytes(4).toString("hex");
    const place = attemptsPlace(workspace, id);
    const directory = join(this.#directory, id);
    mkdirSync(join(directory, "bytes"), { recursive: true, mode: 0o700 });
    replaceFileSync(this.#copiesFile(id), JSON.stringify({ owner: thisOwner(), place }), { durable: true });
    mkdirSync(place, { mode: 0o700 });
    return {
      id,
      place,
      keep: (sha256, bytes) => writeFileSync(join(directory, "bytes", sha256), bytes, { mode: 0o600 }),
      write: (record) => this.#write(record),
    };
  }

  /** Removes the copies, and the whole entry if nothing was written. Marks attempts that have not ended as ended. */
  async close({ id, place }: Pick<OpenAttempts, "id" | "place">): Promise<void> {
    await removeTree(place);
    const record = this.#read(id);
    if (record === undefined) return this.#remove(id);
    // Before the claim is released: other processes trust the record of an unclaimed entry.
    if (record.set.isRunning) {
      const attempts = record.set.attempts.map((attempt) => (attempt.phase === "ended" ? attempt : brokenOff(attempt)));
      this.#write({ ...record, set: withAttempts(record.set, attempts) });
    }
    rmSync(this.#copiesFile(id), { force: true });
  }

  /** Newest first. @param workspace real path; without it, all workspaces */
  list(workspace?: string): readonly AttemptRecord[] {
    return this.#ids()
      .map((id) => this.#read(id))
      .filter((record) => record !== undefined)
      .filter((record) => workspace === undefined || record.workspace === workspace)
      .toSorted((one, other) => other.set.startedAt - one.set.startedAt);
  }

  bytes(id: string, sha256: string): Buffer {
    return readFileSync(join(this.#directory, id, "bytes", sha256));
  }

  /** Rejects with `ServiceError` while a process uses the copies: it alone knows what is to be removed. */
  async drop(id: string): Promise<void> {
    const copies = this.#copiesOf(id);
    if (copies !== undefined && ownerRuns(copies.owner)) {
      throw new ServiceError("failed_precondition", `Attempts ${id} are still being made, so they stay.`, {
        hint: "Stop them where they were started, or wait for their end.",
      });
    }
    await this.#remove(id);
  }

  #remove(id: string): Promise<void> {
    return removeTree(join(this.#directory, id));
  }

  #isOld(id: string, now: number): boolean {
    const stat = lstatSync(join(this.#directory, id), { throwIfNoEntry: false });
    return stat !== undefined && now - stat.mtimeMs > untilClaimed;
  }

  #copiesOf(id: string): z.infer<typeof copiesSchema> | undefined {
    return readChecked(this.#copiesFile(id), copiesSchema);
  }

  #read(id: string): AttemptRecord | undefined {
    return readChecked(this.#file(id), recordSchema);
  }

  #write(record: AttemptRecord): void {
    const written = { version: 2, ...record, set: attemptSetToJson(record.set) };
    replaceFileSync(this.#file(record.set.id), JSON.stringify(written), { durable: true });
  }

  #ids(): readonly string[] {
    return existsSync(this.#directory) ? readdirSync(this.#directory).filter((name) => /^[0-9a-f]{8}$/.test(name)) : [];
  }

  #file(id: string): string {
    return join(this.#directory, id, "attempts.json");
  }

  #copiesFile(id: string): string {
    return join(this.#directory, id, "copies.json");
  }
}

function brokenOff(attempt: Attempt): Attempt {
  const text = "It was broken off: the server ended before the attempt was finished.";
  return { ...attempt, phase: "ended", outcome: "interrupted", text };
}
