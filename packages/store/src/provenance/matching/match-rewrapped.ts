import type { Claims } from "./match-by-lines.ts";
import { type Match, outside, type Source, unsure } from "./passage.ts";
import type { PassageIndex } from "./passage-index.ts";
import { type SqueezedRun, squeezedRun } from "./text-lines.ts";

/** Characters of a shingle. */
const shingle = 16;
/** Of this many shingles in a row, the smallest is kept (winnowing): so one of any 31 equal characters is found. */
const window = 16;
/** Shortest text that is believed, in characters. */
const enough = { near: 24, far: 80 };
/** A text that stands at more places leads nowhere. */
const maxPlaces = 24;
/** Characters that are compared for one gap at most: a text that repeats itself is like itself everywhere. */
const maxCompared = 4_000_000;

interface Place {
  readonly passage: number;
  readonly at: number;
}

/** Finds text that was broken into other lines: by fingerprints of its characters, without white space. */
export class RewrappedText {
  readonly #index: PassageIndex;
  readonly #runs: SqueezedRun[] = [];
  readonly #places = new Map<number, Place[]>();
  #indexed = 0;

  constructor(index: PassageIndex) {
    this.#index = index;
  }

  /** Fills in what `matches` do not know yet. Lines that they know stay. */
  fill(
    lines: readonly string[],
    { matches, claims }: { readonly matches: readonly Match[]; readonly claims: Claims },
    near: ReadonlySet<string>,
  ): readonly Match[] {
    const filled = [...matches];
    for (let first = 0; first < lines.length; first += 1) {
      if (!isOpen(matches[first])) continue;
      let end = first + 1;
      while (end < lines.length && isOpen(matches[end])) end += 1;
      this.#fillGap(lines, [first, end], { near, claims }, filled);
      first = end;
    }
    return filled;
  }

  #fillGap(
    lines: readonly string[],
    [first, end]: readonly [number, number],
    { near, claims }: { readonly near: ReadonlySet<string>; readonly claims: Claims },
    filled: Match[],
  ): void {
    const gap = squeezedRun(lines, first, end);
    if (gap.text.length < enough.near) return;
    this.#catchUp();
    const found: (Source | "disputed" | undefined)[] = gap.lines.map(() => undefined);
    for (const piece of this.#pieces(gap.text, near)) {
      if (piece.length < enough.far && this.#isCopy(piece.passage, piece.from, piece.length, claims)) continue;
      const sources = this.#sourcesOf(piece.passage, piece.from, piece.length);
      for (const [offset, source] of sources.entries()) {
        const at = piece.start + offset;
        if (source === undefined) continue;
        const known = found[at];
        if (known === undefined) found[at] = source;
        // The longest comes first; one that is as long and says something else leaves it open.
        else if (known !== source && piece.isRival) found[at] = "disputed";
      }
    }
    for (let at = 0; at < found.length; ) {
      const line = gap.lines[at] ?? first;
      let past = at + 1;
      while (past < found.length && gap.lines[past] === line) past += 1;
      const match = matchOf(found.slice(at, past));
      if (match !== undefined) filled[line] = match;
      at = past;
    }
  }

  /** Pieces of the text that are known, longest first. */
  #pieces(text: string, near: ReadonlySet<string>) {
    const pieces = new Map<string, { start: number; length: number; passage: number; from: number; isNear: boolean }>();
    const ends = new Map<string, number>();
    let compared = 0;
    for (let at = 0; at + shingle <= text.length && compared < maxCompared; at += 1) {
      for (const place of this.#places.get(hashOf(text, at)) ?? []) {
        const diagonal = `${place.passage}:${place.at - at}`;
        if ((ends.get(diagonal) ?? 0) > at) continue;
        const there = this.#runs[place.passage]?.text ?? "";
        if (!there.startsWith(text.slice(at, at + shingle), place.at)) continue;
        let before = 0;
        while (at - before > 0 && place.at - before > 0 && text[at - before - 1] === there[place.at - before - 1])
          before += 1;
        let after = shingle;
        while (
          at + after < text.length &&
          place.at + after < there.length &&
          text[at + after] === there[place.at + after]
        )
          after += 1;
        const isNear = near.has(this.#index.passage(place.passage).path);
        const length = before + after;
        compared += length;
        ends.set(diagonal, at + after);
        if (length < (isNear ? enough.near : enough.far)) continue;
        const start = at - before;
        pieces.set(`${place.passage}:${place.at - before}:${start}`, {
          start,
          length,
          passage: place.passage,
          from: place.at - before,
          isNear,
        });
      }
    }
    const inOrder = [...pieces.values()].sort(
      (one, other) => other.length * (other.isNear ? 1.6 : 1) - one.length * (one.isNear ? 1.6 : 1),
    );
    const longest = inOrder[0]?.length ?? 0;
    return inOrder.map((piece) => ({ ...piece, isRival: piece.length >= longest / 2 }));
  }

  /** The lines it stands on are all in the text already. */
  #isCopy(passage: number, from: number, length: number, claims: Claims): boolean {
    const run = this.#runs[passage];
    const keys = this.#index.keys(passage);
    const { sources } = this.#index.passage(passage);
    for (let at = from; at < from + length; at += 1) {
      const line = run?.lines[at] ?? -1;
      if (this.#index.weight(keys[line] ?? -1) < 3) continue;
      if (!claims.isTaken(keys[line] ?? -1, sources[line] ?? outside)) return false;
    }
    return true;
  }

  /** Of each character. Of a line that is not there as a whole, somebody changed the rest: it is of nobody who is known. */
  #sourcesOf(passage: number, from: number, length: number): readonly (Source | undefined)[] {
    const owners = this.#runs[passage]?.lines ?? [];
    const { sources } = this.#index.passage(passage);
    const first = from > 0 && owners[from - 1] === owners[from] ? owners[from] : undefined;
    const end = from + length;
    const last = end < owners.length && owners[end - 1] === owners[end] ? owners[end] : undefined;
    return Array.from({ length }, (_, at) => {
      const line = owners[from + at];
      if (line === undefined || line === first || line === last) return undefined;
      return sources[line] ?? outside;
    });
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

function isOpen(match: Match | undefined): boolean {
  return match?.type === "unknown" && match.reason === "not-recorded";
}

/** Of a line's characters: whose most of them are. */
function matchOf(told: readonly (Source | "disputed" | undefined)[]): Match | undefined {
  const counts = new Map<Source | "disputed" | undefined, number>();
  for (const each of told) counts.set(each, (counts.get(each) ?? 0) + 1);
  // Of a line that somebody added to, the rest is not enough.
  if (counts.has(undefined)) return undefined;
  const [first, second] = [...counts]
    .filter(([source]) => source !== undefined)
    .sort((one, other) => other[1] - one[1]);
  if (first === undefined) return undefined;
  const candidates = [...counts.keys()].filter((each): each is Source => typeof each === "number" && each >= 0);
  if (first[0] === "disputed" || first[0] === unsure || first[1] < told.length * 0.75) {
    return { type: "unknown", reason: "ambiguous", candidates };
  }
  const confidence = second === undefined ? 0.9 : 0.8;
  return first[0] === outside
    ? { type: "outside", method: "rewrapped", confidence }
    : { type: "write", write: Number(first[0]), method: "rewrapped", confidence };
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
