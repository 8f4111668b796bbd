import type { PassageIndex } from "./passage-index.ts";

/** Consecutive lines of a text that also occur, in this order, in a passage. */
export interface Run {
  /** 0-based, in the text. */
  readonly start: number;
  readonly length: number;
  readonly passage: number;
  /** Of its first line in the passage. */
  readonly from: number;
  /** What its lines tell together. */
  readonly weight: number;
  /** The passage is of the same file. */
  readonly isNear: boolean;
}

/**
 * All runs that go through a line which tells something, as long as they can be.
 *
 * @param keys of the text's lines, by the index
 * @param near paths that the file had
 */
export function matchingRuns(keys: Int32Array, index: PassageIndex, near: ReadonlySet<string>): readonly Run[] {
  const runs: Run[] = [];
  /** Where the last run on a diagonal of a passage ended. */
  const ends = new Map<string, number>();
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] ?? -1;
    if (key < 0 || index.weight(key) < tellsLittle) continue;
    for (const { passage, line } of index.placesOf(key)) {
      const diagonal = `${passage}:${line - at}`;
      if ((ends.get(diagonal) ?? 0) > at) continue;
      const run = grown(keys, index, at, passage, line, near);
      ends.set(diagonal, run.start + run.length);
      runs.push(run);
    }
  }
  return runs;
}

/** Below this, a line is not looked for by itself. */
const tellsLittle = 3;

function grown(
  keys: Int32Array,
  index: PassageIndex,
  at: number,
  passage: number,
  line: number,
  near: ReadonlySet<string>,
): Run {
  const there = index.keys(passage);
  let start = at;
  let from = line;
  while (start > 0 && from > 0 && keys[start - 1] === there[from - 1]) {
    start -= 1;
    from -= 1;
  }
  let length = at - start + 1;
  while (
    start + length < keys.length &&
    from + length < there.length &&
    keys[start + length] === there[from + length]
  ) {
    length += 1;
  }
  let weight = 0;
  for (let each = 0; each < length; each += 1) weight += index.weight(keys[start + each] ?? -1);
  return { start, length, passage, from, weight, isNear: near.has(index.passage(passage).path) };
}
