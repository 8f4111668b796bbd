import { readFileSync } from "node:fs";
import { z } from "zod";

const caseSchema = z.strictObject({
  group: z.string(),
  id: z.string(),
  input: z.string(),
  required: z.string(),
  note: z.string(),
  /** The test of the part itself that holds it, as `FILE: WORDS OF ITS TITLE`. The case is not tried a second time here. */
  heldBy: z
    .string()
    .regex(/^\S+\.ts: ./)
    .optional(),
});

/** One adversarial case: what is tried, and the required result. */
export type CorpusCase = z.infer<typeof caseSchema>;

/** How a case is checked. `run` throws if the result differs from the required one. */
export type Check =
  | { readonly run: () => Promise<void> }
  /** Why it cannot be checked here, in one sentence. */
  | { readonly notApplicable: string };

/** Checks by the id of their case. */
export type Checks = Readonly<Record<string, Check>>;

const benignSchema = z
  .strictObject({ id: z.string(), category: z.string(), command: z.string(), expect: z.enum(["ALLOW", "NOT_DENY"]) })
  .transform(
    ({ id, category, command, expect }): CorpusCase => ({
      group: `benign.${category}`,
      id,
      input: command,
      required: expect,
      note: "",
    }),
  );

/** The adversarial cases, and the everyday commands as groups `benign.*`. */
export function loadCases(): readonly CorpusCase[] {
  return [...z.array(caseSchema).parse(read("attacks")), ...z.array(benignSchema).parse(read("benign"))];
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`cases/${name}.json`, import.meta.url), "utf8"));
}

export function check(run: () => Promise<void>): Check {
  return { run };
}

export function notApplicable(reason: string): Check {
  return { notApplicable: reason };
}
