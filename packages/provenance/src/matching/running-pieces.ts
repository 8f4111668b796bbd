import type { Source } from "./passage.ts";
import { outside } from "./passage.ts";
import type { PassageIndex } from "./passage-index.ts";
import { type SqueezedRun, squeezedRun } from "./text-lines.ts";

/** Characters of a shingle. */
const shingle = 16;
/** Of this many shingles in a row, the smallest is kept (winnowing): so one of any 31 equal characters is found. */
const window = 16;
/** Shortest text that is believed, in characters. */
const enough = { near: 60, far: 80 };
/** Text that occurs at more places identifies nothing. */
const maxPlaces = 24;
/** Characters that are compared for one text at most: one that repeats itself is like itself everywhere. */
const maxCompared = 16_000_000;
/** In a file of the same name, a text counts for this many times its length. */
const nearCounts = 1.6;

interface Place {
  readonly passage: number;
  readonly at: number;
}

/** Consecutive characters, without white space, that also occur in a passage. */
export interface Piece {
  /** Of its first character in the text. */
  readonly start: number;
  readonly length: number;
  readonly passage: number;
  /** Of its first character in the passage. */
  readonly from: number;
  /** The longer, the likelier; a file of the same name counts for more. */
  readonly score: number;
  /** It is of a file of the same name, as that was written last. */
  readonly isLatest: boolean;
}

/** Finds text that was broken into other lines: by fingerprints of its characters, without white space. */
export class RunningPieces {
  readonly #index: PassageIndex;
  readonly #runs: SqueezedRun[] = [];
  readonly #places = new Map<number, Place[]>();
  #indexed = 0;

  constructor(index: PassageIndex) {
    this.#index = index;
  }

  /**
   * Pieces of a text that are known, as long as they can be; the likeliest first.
   *
   * @param wanted those that have a character of one of these ranges: each has a start and an end, ascending
   * @param isCopied of lines of a passage that are all in the text already, as they are
   */
  find(
    text: string,
    wanted: readonly (readonly [start: number, end: number])[],
    near: ReadonlySet<string>,
    isCopied: (passage: number, line: number) => boolean,
  ): readonly Piece[] {
    this.#catchUp();
    const pieces: Piece[] = [];
    const ends = new Map<string, number>();
    let compared = 0;
    for (const [first, end] of wanted) {
      // A shingle that only reaches into the range is one of the range.
      for (let at = Math.max(0, first - shingle + 1); at < end && at + shingle <= text.length; at += 1) {
        if (compared > maxCompared) break;
        for (const place of this.#places.get(hashOf(text, at)) ?? []) {
          const diagonal = `${place.passage}:${place.at - at}`;
          if ((ends.get(diagonal) ?? 0) > at) continue;
          const there = this.#runs[place.passage]?.text ?? "";
          const [before, after] = grown(text, at, there, place.at);
          if (after < shingle) continue;
          const length = before + after;
          compared += length;
          ends.set(diagonal, at + after);
          const { passage } = place;
          const { path, isWhole } = this.#index.passage(passage);
          const isNear = near.has(path);
          if (length < (isNear ? enough.near : enough.far)) continue;
          const from = place.at - before;
          if (length < enough.far && this.#isCopy(passage, from, length, isCopied)) continue;
          const score = length * (isNear ? nearCounts : 1);
          pieces.push({ start: at - before, length, passage, from, score, isLatest: isNear && isWhole });
        }
      }
    }
    return pieces.sort((one, other) => other.score - one.score || Number(other.isLatest) - Number(one.isLatest));
  }

  /** Of each character of a piece: the line of the passage, and its source; undefined where the line is not in it as a whole. */
  *owners({
    passage,
    from,
    length,
  }: Piece): Generator<{ readonly line: number; readonly source: Source } | undefined, void, undefined> {
    const owners = this.#runs[passage]?.lines ?? [];
    const { sources } = this.#index.passage(passage);
    const end = from + length;
    // If only a part of a line is found, someone changed the rest: its author is unknown.
    const first = from > 0 && owners[from - 1] === owners[from] ? owners[from] : undefined;
    const last = end < owners.length && owners[end - 1] === owners[end] ? owners[end] : undefined;
    for (let at = from; at < end; at += 1) {
      const line = owners[at];
      yield line === undefined || line === first || line === last
        ? undefined
        : { line, source: sources[line] ?? outside };
    }
  }

  #isCopy(
    passage: number,
    from: number,
    length: number,
    isCopied: (passage: number, line: number) => boolean,
  ): boolean {
    const lines = this.#runs[passage]?.lines ?? [];
    for (let at = from; at < from + length; at += 1) {
      if (at > from && lines[at] === lines[at - 1]) continue;
      if (!isCopied(passage, lines[at] ?? -1)) return false;
    }
    return true;
  }

  /** Takes up passages that were added since. */
  #catchUp(): void {
    for (; this.#indexed < this.#index.passages.length; this.#indexed += 1) {
      const { lines } = this.#index.passage(this.#indexed);
      const run = squeezedRun(lines, 0, lines.length);
      this.#runs[this.#indexed] = run;
      for (const at of winnowed(run.text)) {
        const hash = hashOf(run.text, at);
        const places = this.#places.get(hash) ?? [];
        if (places.length < maxPlaces) places.push({ passage: this.#indexed, at });
        this.#places.set(hash, places);
      }
    }
  }
}

/** How many characters are the same before two places, and from them on. */
function grown(text: string, at: number, there: string, place: number): readonly [before: number, after: number] {
  let after = 0;
  while (
    at + after < text.length &&
    place + after < there.length &&
    text.charCodeAt(at + after) === there.charCodeAt(place + after)
  ) {
    after += 1;
  }
  let before = 0;
  while (
    at - before > 0 &&
    place - before > 0 &&
    text.charCodeAt(at - before - 1) === there.charCodeAt(place - before - 1)
  ) {
    before += 1;
  }
  return [before, after];
}

function hashOf(text: string, at: number): number {
  let hash = 0x811c9dc5;
  for (let each = at; each < at + shingle; each += 1) hash = Math.imul(hash ^ text.charCodeAt(each), 0x01000193);
  return hash >>> 0;
}

/** Positions of the fingerprints, ascending. */
function winnowed(text: string): readonly number[] {
  const hashes: number[] = [];
  for (let at = 0; at + shingle <= text.length; at += 1) hashes.push(hashOf(text, at));
  const kept: number[] = [];
  const size = Math.min(window, hashes.length);
  for (let start = 0; start + size <= hashes.length && size > 0; start += 1) {
    let smallest = start;
    for (let at = start; at < start + size; at += 1) if ((hashes[at] ?? 0) <= (hashes[smallest] ?? 0)) smallest = at;
    if (kept.at(-1) !== smallest) kept.push(smallest);
  }
  return kept;
}
