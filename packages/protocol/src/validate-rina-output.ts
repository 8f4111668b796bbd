import type * as z from "zod/mini";
import english from "zod/v4/locales/en.js";
import { CanonicalJsonError, canonicalJson } from "./canonical-json.ts";
import { sha256Hex } from "./digest.ts";
import { parsedJson } from "./json-value.ts";
import type { PlanIssue } from "./model/governance/plan.ts";
import {
  ContractPlanSchema,
  claimsContract,
  contractFields,
  type ParsedPlan,
  RinaEnvelopeSchema,
  SeedPlanSchema,
} from "./plan-schema.ts";
import { type JsonValue, parseStrictJson, pathText, StrictJsonError } from "./strict-json.ts";

/** The kind of envelope found in a text; empty when there was none. */
export type EnvelopeKind = "plan" | "chat" | "error" | "";

/** A plan that passed the first two levels. The third, its contract, needs the server. */
export interface ValidatedPlan {
  readonly parsed: ParsedPlan;
  /** RFC 8785 form of the plan. */
  readonly planJson: string;
  /** SHA-256 of `planJson`, lower-case hex. */
  readonly digest: string;
}

export interface RinaOutputOptions {
  readonly strict?: boolean;
  readonly contract?: boolean;
}

export type RinaOutput =
  | { readonly kind: "plan"; readonly plan: ValidatedPlan; readonly issues: readonly [] }
  | { readonly kind: "chat" | "error"; readonly payload: unknown; readonly issues: readonly [] }
  /** `kind` is what the envelope called itself, when it could be read so far. */
  | {
      readonly kind: "invalid";
      readonly claims: EnvelopeKind;
      readonly issues: readonly PlanIssue[];
    };

/**
 * Reads what a model put out: an envelope, or a bare plan, in a text that may hold other words as well. Never throws.
 * @param options.strict the text must be the JSON and nothing else
 * @param options.contract every step must carry the contract of seed 003; one in seed 000's words alone is refused
 */
export function validateRinaOutput(text: string, options: RinaOutputOptions = {}): RinaOutput {
  const json = options.strict === true ? text.trim() : extractFirstJsonObject(text);
  if (json === undefined || json === "") {
    return invalid("", [{ path: "", message: "There is no JSON object: answer with one envelope.", level: "json" }]);
  }
  let value: JsonValue;
  try {
    value = parseStrictJson(json);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return invalid("", [{ path: error.path, message: error.message, level: "json" }]);
  }
  return validateRinaValue(value, options.contract === true);
}

/** The small form of the library has no words of its own. */
const inEnglish = { error: english().localeError };

function validateRinaValue(value: JsonValue, contract: boolean): RinaOutput {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isObject && !Object.hasOwn(value, "kind") && Object.hasOwn(value, "steps"))
    return validatePlan(value, [], contract);
  const envelope = RinaEnvelopeSchema.safeParse(value, inEnglish);
  if (!envelope.success) return invalid("", schemaIssues(envelope.error, value, []));
  const { kind, payload } = envelope.data;
  return kind === "plan" ? validatePlan(payload, ["payload"], contract) : { kind, payload, issues: [] };
}

/**
 * A value from a strict parser, as a plan.
 * @param at its position, for the paths of issues
 */
function validatePlan(value: unknown, at: readonly PropertyKey[], contract: boolean): RinaOutput {
  const checked = parsePlan(value, contract);
  if (!checked.success) return invalid("plan", schemaIssues(checked.error, value, at));
  const issues = stepIssues(checked.parsed, at);
  if (issues.length > 0) return invalid("plan", issues);
  try {
    const planJson = canonicalJson(value);
    return { kind: "plan", plan: { parsed: checked.parsed, planJson, digest: sha256Hex(planJson) }, issues: [] };
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    return invalid("plan", [{ path: pathText(at), message: error.message, level: "json" }]);
  }
}

function parsePlan(
  value: unknown,
  contract: boolean,
):
  | { readonly success: true; readonly parsed: ParsedPlan }
  | { readonly success: false; readonly error: z.core.$ZodError } {
  if (contract || claimsContract(value)) {
    const result = ContractPlanSchema.safeParse(value, inEnglish);
    return result.success ? { success: true, parsed: { form: "contract", plan: result.data } } : result;
  }
  const result = SeedPlanSchema.safeParse(value, inEnglish);
  return result.success ? { success: true, parsed: { form: "seed", plan: result.data } } : result;
}

/** What no schema of one step can say: ids occur once, and a step depends only on steps before it. */
function stepIssues({ plan }: ParsedPlan, at: readonly PropertyKey[]): readonly PlanIssue[] {
  const issues: PlanIssue[] = [];
  const earlier = new Set<string>();
  for (const [index, step] of plan.steps.entries()) {
    const place = [...at, "steps", index];
    if (earlier.has(step.id)) {
      const message = `Two steps have the id ${JSON.stringify(step.id)}: give each its own.`;
      issues.push({ path: pathText([...place, "id"]), message, level: "schema" });
    }
    for (const [position, needed] of (step.depends_on ?? []).entries()) {
      if (earlier.has(needed)) continue;
      const message = `Step ${JSON.stringify(step.id)} depends on ${JSON.stringify(needed)}, which is no earlier step.`;
      issues.push({ path: pathText([...place, "depends_on", position]), message, level: "schema" });
    }
    earlier.add(step.id);
  }
  return issues;
}

function schemaIssues(error: z.core.$ZodError, value: unknown, at: readonly PropertyKey[]): readonly PlanIssue[] {
  return error.issues.slice(0, 50).map((issue) => {
    const message = `${placeOf(issue.path, value)}: ${issue.message}`;
    const level = isOfContract(issue.path) ? "contract" : "schema";
    return { path: pathText([...at, ...issue.path]), message: `${message.replace(/\.$/, "")}.`, level };
  });
}

/** True for what a step declares and the server enforces. */
function isOfContract([steps, index, field]: readonly PropertyKey[]): boolean {
  return steps === "steps" && typeof index === "number" && contractFields.some((name) => name === field);
}

/** In words of the plan: the step by its id, then the field. */
function placeOf(path: readonly PropertyKey[], value: unknown): string {
  const [steps, index, ...field] = path;
  if (steps !== "steps" || typeof index !== "number") return pathText(path) || "The JSON";
  const id = memberOf(memberOf(memberOf(value, steps), index), "id");
  const step = typeof id === "string" ? `Step ${JSON.stringify(id)}` : `Step ${index + 1}`;
  return field.length === 0 ? step : `${step}, ${pathText(field)}`;
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function invalid(claims: EnvelopeKind, issues: readonly PlanIssue[]): RinaOutput {
  return { kind: "invalid", claims, issues };
}

/** Characters looked at, counted anew for each opening brace, before a text counts as one without an object. */
const maxCharacters = 16 * 1024 * 1024;

/**
 * The text of the first JSON object in mixed output of a model: prose, code fences, then JSON. Braces inside strings do not
 * count, and a brace in prose that begins no JSON is skipped. Undefined if there is none. Nothing is checked beyond what
 * `JSON.parse` accepts.
 */
export function extractFirstJsonObject(text: string): string | undefined {
  let begun: string | undefined;
  let start = text.indexOf("{");
  for (let looked = 0; start !== -1 && looked < maxCharacters; ) {
    const end = endOfObject(text, start);
    looked += (end ?? text.length) - start;
    if (end !== undefined) {
      const candidate = text.slice(start, end);
      if (parsedJson(candidate) !== undefined) return candidate;
      // Looks like an object and is not one: what its reader should hear about, if nothing better follows.
      if (begun === undefined && /^\{\s*"/.test(candidate)) begun = candidate;
    }
    start = text.indexOf("{", start + 1);
  }
  return begun;
}

/** Offset behind the brace that closes the one at `start`; undefined when none does. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
