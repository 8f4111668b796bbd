/** Decides what of many a sample is: the same seed, the same. `npm test` gives all that it starts one. */
export const seed = Number(process.env["GENNAI_SAMPLE_SEED"] || Date.now() % 1_000_000);

/** Where it is `whole`, all is taken of what others take a sample of. */
const isWhole = process.env["GENNAI_SAMPLES"] === "whole";

/** How many rounds of what has no end: in a sample, and as a whole. @param {{ few: number, whole: number }} rounds */
export function roundsOf({ few, whole }) {
  return isWhole ? whole : few;
}

/**
 * So many of them, or all, in an order of chance.
 * @template Item
 * @param {readonly Item[]} all @param {number} count
 * @returns {readonly Item[]}
 */
export function sampleOf(all, count) {
  if (isWhole) return all;
  /** @type {Set<Item>} */
  const chosen = new Set();
  for (let state = seed; chosen.size < Math.min(count, all.length); ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    const item = all[(state >>> 8) % all.length];
    if (item !== undefined) chosen.add(item);
  }
  return [...chosen];
}
