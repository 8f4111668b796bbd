import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRunning, thisOwner } from "@gennai/machine/process/journal-owner";
import { readChecked } from "@gennai/machine/read-checked";
import { removeTree } from "@gennai/machine/stage/remove-tree";
import { writeDurably } from "@gennai/machine/write-durably";
import * as z from "zod";
import { type Attempts, attemptsSchema } from "./attempt.ts";

const copiesSchema = z.strictObject({ owner: z.string(), place: z.string() });

/** Further ones are dropped, the oldest first. */
const maxOfWorkspace = 10;
const maxAgeMs = 14 * 24 * 60 * 60 * 1000;

/** Where one prompt is tried: nothing of it is left when this process dies before `finish`. */
export interface OpenAttempts {
  readonly id: string;
  /** Beside the workspace; the working copies lie in it. */
  readonly place: string;
  /** Keeps the bytes by their digest. */
  keep(sha256: string, bytes: Uint8Array): void;
  finish(attempts: Attempts): void;
}

/** What attempts came to, in the state directory, so that a person can look at them and take one. */
export class KeptAttempts {
  readonly #directory: string;

  /** @param stateDir private, real path */
  constructor(stateDir: string) {
    this.#directory = join(stateDir, "attempts");
  }

  /** Removes what processes that died left behind, and what is too old. */
  async recover(now: number): Promise<void> {
    for (const id of this.#ids()) {
      const copies = this.#copiesOf(id);
      if (copies !== undefined && isRunning(copies.owner)) continue;
      if (copies !== undefined) await this.#removeCopies(id, copies.place);
      if (this.#read(id) === undefined) await this.drop(id);
    }
    const counts = new Map<string, number>();
    for (const { id, workspace, at } of this.list()) {
      const count = (counts.get(workspace) ?? 0) + 1;
      counts.set(workspace, count);
      if (count > maxOfWorkspace || now - at > maxAgeMs) await this.drop(id);
    }
  }

  /** Throws the system's error where there can be no directory beside the workspace. The holder calls `close`. */
  open(workspace: string): OpenAttempts {
    const id = randomBytes(4).toString("hex");
    const place = join(dirname(workspace), `.gennai-attempts-${id}`);
    const directory = join(this.#directory, id);
    mkdirSync(join(directory, "bytes"), { recursive: true, mode: 0o700 });
    writeDurably(this.#copiesFile(id), JSON.stringify({ owner: thisOwner(), place }));
    mkdirSync(place, { mode: 0o700 });
    return {
      id,
      place,
      keep: (sha256, bytes) => writeFileSync(join(directory, "bytes", sha256), bytes, { mode: 0o600 }),
      finish: (attempts) => writeDurably(this.#file(id), JSON.stringify(attempts)),
    };
  }

  /** Removes the copies, and all of it where it was not finished. */
  async close({ id, place }: OpenAttempts): Promise<void> {
    await this.#removeCopies(id, place);
    if (this.#read(id) === undefined) await this.drop(id);
  }

  /** Newest first. @param workspace real path; all without it */
  list(workspace?: string): readonly Attempts[] {
    return this.#ids()
      .map((id) => this.#read(id))
      .filter((attempts) => attempts !== undefined)
      .filter((attempts) => workspace === undefined || attempts.workspace === workspace)
      .toSorted((one, other) => other.at - one.at);
  }

  bytes(id: string, sha256: string): Buffer {
    return readFileSync(join(this.#directory, id, "bytes", sha256));
  }

  drop(id: string): Promise<void> {
    return removeTree(join(this.#directory, id));
  }

  async #removeCopies(id: string, place: string): Promise<void> {
    await removeTree(place);
    rmSync(this.#copiesFile(id), { force: true });
  }

  #copiesOf(id: string): z.infer<typeof copiesSchema> | undefined {
    return readChecked(this.#copiesFile(id), copiesSchema);
  }

  #read(id: string): Attempts | undefined {
    return readChecked(this.#file(id), attemptsSchema);
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
