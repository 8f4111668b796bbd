import { matchingRuns, type Run } from "./matching-runs.ts";
import { type Match, notRecorded, outside, type Source, unsure } from "./passage.ts";
import type { PassageIndex } from "./passage-index.ts";

/** What the lines of a run that nothing else explains must tell, in characters, to be believed. */
const enough = {
  /** In a file of the same name. */
  near: 6,
  /** In another file, or if the text is still at its original place: someone may have written the same few words again. */
  far: 120,
  /** In another file, where each of the lines is known from one write alone. */
  farAndAlone: 60,
  /** Where two runs meet, lines that tell less than this together may be of either. */
  border: 14,
};

/** A run that tells this many times as much as another beats it. */
const clearly = 1.6;

/** Lines of a text, and what is known of them. */
export interface MatchedLines {
  readonly matches: readonly Match[];
  readonly claims: Claims;
  /**
   * How many characters the run has by which a line is known; in a file of the same name they count for more.
   *
   * @param starts of each line, in the text without white space; and the end
   */
  runScore(line: number, starts: readonly number[]): number;
}

/**
 * What each line of a text was, by the longest runs of lines that it has in common with what was recorded. A line that several
 * writes may have brought is ambiguous.
 *
 * @param near paths that the file had
 */
export function matchByLines(lines: readonly string[], index: PassageIndex, near: ReadonlySet<string>): MatchedLines {
  const keys = index.keysOf(lines);
  const runs = [...matchingRuns(keys, index, near)].sort(
    (one, other) =>
      scoreOf(other) - scoreOf(one) ||
      Number(index.passage(other.passage).isWhole) - Number(index.passage(one.passage).isWhole) ||
      other.passage - one.passage,
  );
  const chosen: (Run | undefined)[] = lines.map(() => undefined);
  const disputed: (Set<Source> | undefined)[] = lines.map(() => undefined);
  const claims = new Claims(keys, index);
  for (const run of runs) {
    if (!isBelieved(run, { keys, index, claims, chosen }) && !isRival(run, chosen)) continue;
    const holders = new Set<Run>();
    for (let at = run.start; at < run.start + run.length; at += 1) {
      const holder = chosen[at];
      if (holder === undefined) {
        chosen[at] = run;
        claims.take(at, sourceAt(run, at, index));
      } else if (sourceAt(holder, at, index) !== sourceAt(run, at, index)) holders.add(holder);
    }
    for (const holder of holders) dispute(run, holder, keys, index, disputed);
  }
  disputeSlides(chosen, keys, index, disputed);
  const matches = lines.map((line, at): Match => {
    const run = chosen[at];
    if (run === undefined) return notRecorded;
    const rivals = disputed[at];
    const source = sourceAt(run, at, index);
    if (rivals !== undefined) {
      return { type: "unknown", reason: "ambiguous", candidates: [source, ...rivals].filter((each) => each >= 0) };
    }
    if (source === unsure) return { type: "unknown", reason: "ambiguous", candidates: [] };
    const isSame = index.passage(run.passage).lines[run.from + at - run.start] === line;
    const alone = index.sourcesOf(keys[at] ?? -1).size === 1;
    const confidence = confidenceOf(run, { isSame, alone });
    const method = isSame ? "same-lines" : "formatted";
    return source === outside
      ? { type: "outside", method, confidence }
      : { type: "write", write: source, method, confidence };
  });
  const runScore = (line: number, starts: readonly number[]): number => {
    const run = chosen[line];
    if (run === undefined) return 0;
    const length = (starts[run.start + run.length] ?? 0) - (starts[run.start] ?? 0);
    return run.isNear ? length * clearly : length;
  };
  return { matches, claims, runScore };
}

function scoreOf({ weight, isNear }: Run): number {
  return isNear ? weight * clearly : weight;
}

function sourceAt(run: Run, at: number, index: PassageIndex): Source {
  return index.passage(run.passage).sources[run.from + at - run.start] ?? outside;
}

function confidenceOf({ weight, isNear }: Run, { isSame, alone }: { isSame: boolean; alone: boolean }): number {
  const byRun = weight >= 120 ? 0.99 : weight >= 40 ? 0.97 : 0.9;
  return Math.round((byRun - (isNear ? 0 : 0.02) - (isSame ? 0 : 0.03) - (alone ? 0 : 0.02)) * 100) / 100;
}

function isBelieved(
  run: Run,
  {
    keys,
    index,
    claims,
    chosen,
  }: { keys: Int32Array; index: PassageIndex; claims: Claims; chosen: readonly (Run | undefined)[] },
): boolean {
  let fresh = 0;
  let freshLines = 0;
  let moved = 0;
  let isAlone = true;
  for (let at = run.start; at < run.start + run.length; at += 1) {
    if (chosen[at] !== undefined) continue;
    const key = keys[at] ?? -1;
    const weight = index.weight(key);
    fresh += weight;
    freshLines += 1;
    if (!claims.isTaken(key, sourceAt(run, at, index))) moved += weight;
    if (weight >= enough.border && index.sourcesOf(key).size > 1) isAlone = false;
  }
  if (run.isNear && moved >= enough.near) return true;
  if (fresh >= enough.far && freshLines >= 4) return true;
  return !run.isNear && isAlone && moved >= enough.farAndAlone && freshLines >= 3;
}

/** All its lines are explained already, and it explains them as well. */
function isRival(run: Run, chosen: readonly (Run | undefined)[]): boolean {
  if (run.weight < enough.farAndAlone) return false;
  for (let at = run.start; at < run.start + run.length; at += 1) if (chosen[at] === undefined) return false;
  return true;
}

/** Lines in both runs are of either when nothing tells them apart. */
function dispute(
  run: Run,
  holder: Run,
  keys: Int32Array,
  index: PassageIndex,
  disputed: (Set<Source> | undefined)[],
): void {
  const start = Math.max(run.start, holder.start);
  const end = Math.min(run.start + run.length, holder.start + holder.length);
  let weight = 0;
  for (let at = start; at < end; at += 1) weight += index.weight(keys[at] ?? -1);
  const reachesBeyond = run.start < holder.start || run.start + run.length > holder.start + holder.length;
  const isBorder = reachesBeyond && weight < enough.border;
  if (!isBorder && scoreOf(holder) >= scoreOf(run) * clearly) return;
  // The same lines, in the file itself as it was last.
  if (!isBorder && holder.isNear && index.passage(holder.passage).isWhole) return;
  for (let at = start; at < end; at += 1) {
    const source = sourceAt(run, at, index);
    if (source === sourceAt(holder, at, index)) continue;
    const rivals = disputed[at] ?? new Set<Source>();
    rivals.add(source);
    disputed[at] = rivals;
  }
}

/**
 * If lines were inserted, equal lines before and after them, e.g. closing brackets, may be exchanged: then it is unknown which
 * of the two is the old one.
 */
function disputeSlides(
  chosen: readonly (Run | undefined)[],
  keys: Int32Array,
  index: PassageIndex,
  disputed: (Set<Source> | undefined)[],
): void {
  const inOrder: Run[] = [];
  for (const run of chosen) if (run !== undefined && run !== inOrder.at(-1)) inOrder.push(run);
  for (const [number, before] of inOrder.entries()) {
    for (const after of inOrder.slice(number + 1, number + 3)) {
      if (after.passage !== before.passage) continue;
      const twice = before.from + before.length - after.from;
      if (twice <= 0 || twice > Math.min(before.length, after.length)) continue;
      let weight = 0;
      for (let at = 0; at < twice; at += 1) weight += index.weight(keys[after.start + at] ?? -1);
      if (weight >= enough.border) continue;
      for (let at = 0; at < twice; at += 1) {
        for (const place of [after.start + at, before.start + before.length - twice + at]) {
          disputed[place] = (disputed[place] ?? new Set<Source>()).add(outside);
        }
      }
    }
  }
}

/** Recorded lines that are already in the text, so that a second one would be a copy. */
export class Claims {
  readonly #keys: Int32Array;
  readonly #index: PassageIndex;
  readonly #taken = new Map<string, number>();
  readonly #room = new Map<string, number>();

  constructor(keys: Int32Array, index: PassageIndex) {
    this.#keys = keys;
    this.#index = index;
  }

  take(at: number, source: Source): void {
    const name = `${this.#keys[at]}:${source}`;
    this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
  }

  /** As many of these lines as were written are accounted for. */
  isTaken(key: number, source: Source): boolean {
    return (this.#taken.get(`${key}:${source}`) ?? 0) >= this.#roomFor(key, source);
  }

  /** Maximum number of these lines in one passage. */
  #roomFor(key: number, source: Source): number {
    const name = `${key}:${source}`;
    const known = this.#room.get(name);
    if (known !== undefined) return known;
    const counts = new Map<number, number>();
    for (const { passage, line } of this.#index.placesOf(key)) {
      if (this.#index.passage(passage).sources[line] !== source) continue;
      counts.set(passage, (counts.get(passage) ?? 0) + 1);
    }
    const room = Math.max(1, ...counts.values());
    this.#room.set(name, room);
    return room;
  }
}
