import * as z from "zod";

const id = z
  .string()
  .min(1, "must not be empty")
  .max(200, "must be 200 characters at most")
  .regex(/^[^\p{Cc}\p{Cf}]+$/u, "must hold no control or invisible characters");
const line = z.string().max(2_000, "must be 2,000 characters at most");
const command = z
  .string()
  .min(1, "must not be empty")
  .max(30_000, "must be 30,000 characters at most: write a script and run that")
  .refine((text) => !text.includes("\0"), "must not hold a NUL character");
const path = z
  .string()
  .min(1, "must not be empty")
  .max(4_096, "must be 4,096 characters at most")
  .refine((text) => !text.includes("\0"), "must not hold a NUL character");

const action = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("command"), command, cwd: path.optional() }),
  z.strictObject({ type: z.literal("file_write"), path, content: z.string() }),
  /** `patch`: unified diff of this one file. */
  z.strictObject({ type: z.literal("file_patch"), path, patch: z.string().min(1, "must not be empty") }),
]);

const verification = z.strictObject({ type: z.literal("command"), command });
const riskLevel = z.enum(["low", "medium", "high"]);

const actions = z
  .array(action)
  .min(1, "must hold at least one action: a step without one does nothing")
  .max(100, "must hold 100 actions at most");

/** A step in seed 000's words. Its contract is computed. */
const seedStep = z.strictObject({
  id,
  title: line,
  intent: line,
  actions,
  verify: z.array(verification).max(100, "must hold 100 commands at most"),
  depends_on: z.array(id).max(200).optional(),
});

/** A step that carries the contract of seed 003, section 6, itself. */
const contractStep = z.strictObject({
  id,
  title: line.optional(),
  intent: line.optional(),
  actions,
  verify: z.array(verification).max(100).optional(),
  depends_on: z.array(id).max(200).optional(),
  risk_level: riskLevel,
  requires_confirmation: z.boolean(),
  verification_plan: z
    .array(verification)
    .min(1, "must hold at least one command that proves the step")
    .max(100, "must hold 100 commands at most"),
  tool: z.string().min(1, "must name the tool that does it: Bash, Write or Edit"),
  description: line.min(1, "must say what the step does"),
});

const contractFields: readonly string[] = [
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
  summary: z.string().max(20_000, "must be 20,000 characters at most"),
  risks: z.array(z.strictObject({ level: riskLevel, text: line })).max(100, "must hold 100 risks at most"),
};
const maxSteps = 200;

/** Strict: an unknown key is an error, never dropped. What is shown is what is hashed is what runs. */
export const SeedPlanSchema = z.strictObject({
  ...head,
  steps: z.array(seedStep).min(1, "must hold at least one step").max(maxSteps, `must hold ${maxSteps} steps at most`),
});

export const ContractPlanSchema = z.strictObject({
  ...head,
  risks: head.risks.optional(),
  steps: z
    .array(contractStep)
    .min(1, "must hold at least one step")
    .max(maxSteps, `must hold ${maxSteps} steps at most`),
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
