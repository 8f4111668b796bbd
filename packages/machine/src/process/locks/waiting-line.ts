import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "./file-lock.ts";
import { holderGone, livingHolder, writeHolder } from "./lock-holder.ts";

/** Milliseconds to wait for others that are taking their places, which needs only some file operations. */
const maxWaitMs = 5_000;

/** A place in a line, given up when disposed, and when its process ends. */
export interface PlaceInLine extends Disposable {
  /** How many wait in front; 0 if it is this one's turn. Places of processes that were killed count until they are removed. */
  ahead(): number;
  /** The description of the first that waits in front; undefined if it is this one's turn. */
  first(): string | undefined;
  /** Resolves when the place right in front is given up; at once if there is none. Rejects when the signal aborts. */
  moved(signal: AbortSignal): Promise<void>;
}

/** A line of waiting processes, in order of arrival, over all processes that use the directory. */
export class WaitingLine {
  readonly #directory: string;

  /** @param directory for this line alone; created by the first process that waits */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Takes the last place. Throws if others block the line for too long.
   * @param what describes the waiting process to others
   */
  join(what: string): PlaceInLine {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    using alone = tryFileLock(join(this.#directory, "taking"), { waitMs: maxWaitMs });
    if (alone === undefined) throw new Error("Another process blocks the line for the working tree.");
    for (const place of this.#places()) {
      const path = join(this.#directory, place);
      if (livingHolder(path) === undefined) rmSync(path, { force: true });
    }
    const number = Number(this.#places().at(-1) ?? 0) + 1;
    const mine = String(number).padStart(digits, "0");
    const path = join(this.#directory, mine);
    writeHolder(path, what);
    return {
      ahead: () => (this.#first(mine) === undefined ? 0 : this.#before(mine).length),
      first: () => this.#first(mine),
      moved: async (signal) => {
        const before = this.#before(mine).findLast((place) => livingHolder(join(this.#directory, place)) !== undefined);
        if (before !== undefined) await holderGone(join(this.#directory, before), signal);
      },
      [Symbol.dispose]: () => rmSync(path, { force: true }),
    };
  }

  /** The description of the first place; undefined if no living process waits. */
  first(): string | undefined {
    return this.#first();
  }

  #first(end?: string): string | undefined {
    for (const place of this.#before(end)) {
      const holder = livingHolder(join(this.#directory, place));
      if (holder !== undefined) return holder.what;
    }
    return undefined;
  }

  #before(end?: string): readonly string[] {
    const places = this.#places();
    return end === undefined ? places : places.filter((place) => place < end);
  }

  /** All places, including those of processes that have ended. */
  #places(): readonly string[] {
    try {
      return readdirSync(this.#directory)
        .filter((name) => /^\d+$/.test(name))
        .sort();
    } catch {
      // Nobody has ever waited.
      return [];
    }
  }
}

/** Width of the numbers, so that names sort like them. */
const digits = 15;
