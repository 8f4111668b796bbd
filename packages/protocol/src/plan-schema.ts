import * as z from "zod/mini";
import { riskWords } from "./model/governance/risk.ts";

// The page and the webview carry this schema: the small form of the library is a third of the other.
const notEmpty = z.minLength(1, "must not be empty");
const withoutNul = z.refine<string>((text) => !text.includes("\0"), "must not hold a NUL character");
const atMost = (count: number, things: string) => z.maxLength(count, `must hold ${count} ${things} at most`);

const id = z
  .string()
  .check(
    notEmpty,
    z.maxLength(200, "must be 200 characters at most"),
    z.regex(/^[^\p{Cc}\p{Cf}]+$/u, "must hold no control or invisible characters"),
  );
const line = z.string().check(z.maxLength(2_000, "must be 2,000 characters at most"));
const command = z
  .string()
  .check(notEmpty, z.maxLength(30_000, "must be 30,000 characters at most: write a script and run that"), withoutNul);
const path = z.string().check(notEmpty, z.maxLength(4_096, "must be 4,096 characters at most"), withoutNul);

const action = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("command"), command, cwd: z.optional(path) }),
  z.strictObject({ type: z.literal("file_write"), path, content: z.string() }),
  /** `patch`: unified diff of this one file. */
  z.strictObject({ type: z.literal("file_patch"), path, patch: z.string().check(notEmpty) }),
]);

const verification = z.strictObject({ type: z.literal("command"), command });
const riskLevel = z.enum(riskWords.words);

const actions = z
  .array(action)
  .check(z.minLength(1, "must hold at least one action: a step without one does nothing"), atMost(100, "actions"));
const dependsOn = z.optional(z.array(id).check(z.maxLength(200)));

/** A step in seed 000's words. Its contract is computed. */
const seedStep = z.strictObject({
  id,
  title: line,
  intent: line,
  actions,
  verify: z.array(verification).check(atMost(100, "commands")),
  depends_on: dependsOn,
});

/** A step that carries the contract of seed 003, section 6, itself. */
const contractStep = z.strictObject({
  id,
  title: z.optional(line),
  intent: z.optional(line),
  actions,
  verify: z.optional(z.array(verification).check(z.maxLength(100))),
  depends_on: dependsOn,
  risk_level: riskLevel,
  requires_confirmation: z.boolean(),
  verification_plan: z
    .array(verification)
    .check(z.minLength(1, "must hold at least one command that proves the step"), atMost(100, "commands")),
  tool: z.string().check(z.minLength(1, "must name the tool that does it: Bash, Write or Edit")),
  description: line.check(z.minLength(1, "must say what the step does")),
});

export const contractFields: readonly string[] = [
  "risk_level",
  "requires_confirmation",
  "verification_plan",
  "tool",
  "description",
];

/** True when an unchecked plan claims the contract form: one field of it in one step is enough. */
export function claimsContract(plan: unknown): boolean {
  const steps = memberOf(plan, "steps");
  return (
    Array.isArray(steps) && steps.some((step) => contractFields.some((field) => memberOf(step, field) !== undefined))
  );
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

const head = {
  id,
  title: line,
  summary: z.string().check(z.maxLength(20_000, "must be 20,000 characters at most")),
  risks: z.array(z.strictObject({ level: riskLevel, text: line })).check(atMost(100, "risks")),
};
const maxSteps = 200;

/** Strict: an unknown key is an error, never dropped. What is shown is what is hashed is what runs. */
export const SeedPlanSchema = z.strictObject({
  ...head,
  steps: z.array(seedStep).check(z.minLength(1, "must hold at least one step"), atMost(maxSteps, "steps")),
});

export const ContractPlanSchema = z.strictObject({
  ...head,
  risks: z.optional(head.risks),
  steps: z.array(contractStep).check(z.minLength(1, "must hold at least one step"), atMost(maxSteps, "steps")),
});

export type SeedPlan = z.infer<typeof SeedPlanSchema>;
export type ContractPlan = z.infer<typeof ContractPlanSchema>;
export type PlanAction = z.infer<typeof action>;

/** A plan whose form is checked. */
export type ParsedPlan =
  | { readonly form: "seed"; readonly plan: SeedPlan }
  | { readonly form: "contract"; readonly plan: ContractPlan };

/** What a model answers with. `payload` of a plan is checked by the plan's own schema. */
export const RinaEnvelopeSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("plan"), payload: z.record(z.string(), z.unknown()) }),
  z.strictObject({ kind: z.literal("chat"), payload: z.unknown() }),
  z.strictObject({ kind: z.literal("error"), payload: z.unknown() }),
]);
export type RinaEnvelope = z.infer<typeof RinaEnvelopeSchema>;
