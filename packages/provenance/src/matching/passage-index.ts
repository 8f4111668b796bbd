import type { Passage, Source } from "./passage.ts";
import { squeezed, tells } from "./text-lines.ts";

/** Position of a line in a passage. */
export interface Place {
  readonly passage: number;
  readonly line: number;
}

/** Text that occurs at more places identifies nothing by itself; its neighbours do. */
const maxPlaces = 48;

/** Passages, found by their lines. */
export class PassageIndex {
  readonly #passages: Passage[] = [];
  readonly #keys: Int32Array[] = [];
  readonly #keyOf = new Map<string, number>();
  readonly #weight: number[] = [];
  /** By key; no more are added when there are too many. */
  readonly #places: Place[][] = [];
  readonly #sources: Set<Source>[] = [];

  add(passage: Passage): void {
    const number = this.#passages.push(passage) - 1;
    const keys = this.keysOf(passage.lines, true);
    this.#keys.push(keys);
    for (const [line, key] of keys.entries()) {
      const places = this.#places[key] ?? [];
      if (places.length <= maxPlaces) places.push({ passage: number, line });
      this.#places[key] = places;
      const sources = this.#sources[key] ?? new Set<Source>();
      const source = passage.sources[line];
      if (source !== undefined && sources.size < 16) sources.add(source);
      this.#sources[key] = sources;
    }
  }

  /** A number for each line, equal for lines that are equal when squeezed; -1 for one that no passage has. */
  keysOf(lines: readonly string[], learn = false): Int32Array {
    return Int32Array.from(lines, (line) => {
      const text = squeezed(line);
      const known = this.#keyOf.get(text);
      if (known !== undefined || !learn) return known ?? -1;
      const key = this.#keyOf.size;
      this.#keyOf.set(text, key);
      this.#weight.push(tells(text));
      return key;
    });
  }

  /** How much the line tells by itself, 0 to 40. */
  weight(key: number): number {
    return this.#weight[key] ?? 0;
  }

  /** Places of a key; none when there are too many. */
  placesOf(key: number): readonly Place[] {
    const places = this.#places[key] ?? [];
    return places.length > maxPlaces ? [] : places;
  }

  /** Writes that contain this text, at any place. */
  sourcesOf(key: number): ReadonlySet<Source> {
    return this.#sources[key] ?? none;
  }

  passage(number: number): Passage {
    const passage = this.#passages[number];
    if (passage === undefined) throw new RangeError(`There is no passage ${number}.`);
    return passage;
  }

  keys(number: number): Int32Array {
    return this.#keys[number] ?? new Int32Array();
  }

  get passages(): readonly Passage[] {
    return this.#passages;
  }
}

const none: ReadonlySet<Source> = new Set();
