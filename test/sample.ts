/** Decides what of many a sample is: the same seed, the same. */
export const seed = Number(process.env["GENNAI_SAMPLE_SEED"] || Date.now() % 1_000_000);

/** So many of them, or all, in an order of chance. */
export function sampleOf<Item>(all: readonly Item[], count: number): readonly Item[] {
  const chosen = new Set<Item>();
  for (let state = seed; chosen.size < Math.min(count, all.length); ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    const item = all[(state >>> 8) % all.length];
    if (item !== undefined) chosen.add(item);
  }
  return [...chosen];
}
