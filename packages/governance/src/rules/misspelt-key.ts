/** The known key that an unknown one probably means: other letter case, or at most two edits. */
export function misspeltKey(key: string, known: readonly string[]): string | undefined {
  const plain = withoutForm(key);
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known) {
    const wanted = withoutForm(candidate);
    const limit = wanted.length < 6 ? 1 : 2;
    const distance = editDistance(plain, wanted);
    if (distance > limit || distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

function withoutForm(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Letters put in, taken out, exchanged, or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 2) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? Number.POSITIVE_INFINITY;
}
