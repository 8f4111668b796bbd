/**
 * What an export can hold besides the chain: number, id, time, kind and hash of each record, what reports a purge, the key, and the
 * signed head.
 */
export const bundleParts = ["records", "prompts"] as const;

export type BundlePart = (typeof bundleParts)[number];

/** The default parts: what was done, and nothing of what was said. */
export const usualBundleParts: readonly BundlePart[] = ["records"];

export const bundlePartWords: Readonly<Record<BundlePart, string>> = {
  records:
    "what each record tells: paths, inputs of calls with the texts in them, decisions and who made them; signed as a whole",
  prompts: "the sessions: titles, prompts, answers, and what calls printed and read",
};
