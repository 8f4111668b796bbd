/**
 * Lines that occur exactly once in each text, in the same order. Texts are compared between them, which keeps large comparisons
 * fast, and separates hunks where a reader would.
 */
export function lineAnchors(
  old: readonly string[],
  fresh: readonly string[],
): readonly { readonly old: number; readonly fresh: number }[] {
  const inFresh = onlyOnce(fresh);
  const pairs = [...onlyOnce(old)].flatMap(([line, at]) => {
    const freshAt = inFresh.get(line);
    return freshAt === undefined ? [] : [{ old: at, fresh: freshAt }];
  });
  // Longest increasing subsequence: `last[n]` is the end of the one of length n + 1 that has the smallest end.
  const last: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, pair] of pairs.entries()) {
    let low = 0;
    let high = last.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[last[middle] ?? 0]?.fresh ?? 0) < pair.fresh) low = middle + 1;
      else high = middle;
    }
    before[index] = last[low - 1];
    last[low] = index;
  }
  const row: { old: number; fresh: number }[] = [];
  for (let at = last.at(-1); at !== undefined; at = before[at]) {
    const pair = pairs[at];
    if (pair !== undefined) row.push(pair);
  }
  return row.reverse();
}

/** Positions of the lines that occur once in a text, ascending. */
function onlyOnce(lines: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [at, line] of lines.entries()) places.set(line, places.has(line) ? -1 : at);
  for (const [line, at] of places) if (at === -1) places.delete(line);
  return places;
}
