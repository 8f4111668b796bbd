import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "./file-lock.ts";
import { livingHolder, writeHolder } from "./lock-holder.ts";

/** Milliseconds for others to take their places, which is some operations on files. */
const maxWaitMs = 5_000;

/** A place in a line, given up when disposed, and when its process ends. */
export interface PlaceInLine extends Disposable {
  /** Who waits in front, first come first; empty: it is this one's turn. */
  ahead(): readonly string[];
}

/** Those who wait for something, in the order in which they came, over all processes that use the directory. */
export class WaitingLine {
  readonly #directory: string;

  /** @param directory of this line alone; made by the first who waits */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Takes the last place. Throws when others hold up the line for too long.
   * @param what names the one who waits to others
   */
  join(what: string): PlaceInLine {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    using alone = tryFileLock(join(this.#directory, "taking"), { waitMs: maxWaitMs });
    if (alone === undefined) throw new Error("Others hold up the line.");
    for (const place of this.#places()) {
      const path = join(this.#directory, place);
      if (livingHolder(path) === undefined) rmSync(path, { force: true });
    }
    const number = Number(this.#places().at(-1) ?? 0) + 1;
    const mine = String(number).padStart(digits, "0");
    const path = join(this.#directory, mine);
    writeHolder(path, what);
    return {
      ahead: () => this.#waiting().flatMap(({ place, what: other }) => (place < mine ? [other] : [])),
      [Symbol.dispose]: () => rmSync(path, { force: true }),
    };
  }

  /** Who has the first place; undefined when nobody alive waits. */
  first(): string | undefined {
    return this.#waiting()[0]?.what;
  }

  #waiting(): readonly { readonly place: string; readonly what: string }[] {
    return this.#places().flatMap((place) => {
      const holder = livingHolder(join(this.#directory, place));
      return holder === undefined ? [] : [{ place, what: holder.what }];
    });
  }

  /** Those of processes that have ended too. */
  #places(): readonly string[] {
    try {
      return readdirSync(this.#directory)
        .filter((name) => /^\d+$/.test(name))
        .sort();
    } catch {
      // Nobody ever waited.
      return [];
    }
  }
}

/** So that names sort as their numbers do. */
const digits = 15;
