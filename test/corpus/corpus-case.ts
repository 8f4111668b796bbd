import { readFileSync } from "node:fs";
import { z } from "zod";

const caseSchema = z.strictObject({
  group: z.string(),
  id: z.string(),
  input: z.string(),
  required: z.string(),
  note: z.string(),
});

/** One adversarial case: what is tried, and what must come of it. */
export type CorpusCase = z.infer<typeof caseSchema>;

/** How a case is checked. `run` throws when something else than required comes of it. */
export type Check =
  | { readonly run: () => Promise<void>; readonly timeoutMs?: number }
  /** Why it cannot be checked here, in one sentence. */
  | { readonly notApplicable: string };

/** Checks by the id of their case. */
export type Checks = Readonly<Record<string, Check>>;

export function loadCases(): readonly CorpusCase[] {
  return z.array(caseSchema).parse(JSON.parse(readFileSync(new URL("cases/attacks.json", import.meta.url), "utf8")));
}

export function check(run: () => Promise<void>): Check {
  return { run };
}

export function notApplicable(reason: string): Check {
  return { notApplicable: reason };
}
