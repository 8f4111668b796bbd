import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import { type JsonValue, parseStrictJson } from "@gennai/protocol/strict-json";
import { validateRinaOutput } from "@gennai/protocol/validate-rina-output";

// Of a plan, the published RinaWarp extension keeps only the members in its schema; of an action only the type. It sends that
// form back instead of the plan, with its own hash. See docs/decisions/2026-11-22-rinawarp-published-client.md.

/** A plan as that client gets it: a plan of steps with a contract has the members that its schema wants besides. */
export function planForClient(planJson: string): JsonValue {
  const output = validateRinaOutput(planJson, { strict: true });
  if (output.kind !== "plan") throw new TypeError("A plan that is held can be read.");
  const { parsed } = output.plan;
  const whole = parseStrictJson(planJson);
  if (parsed.form === "seed" || !isObject(whole)) return whole;
  const { steps } = whole;
  return {
    risks: [],
    ...whole,
    steps: list(steps).map((step) => {
      if (!isObject(step)) return step;
      const { description = "", verification_plan: verify = [] } = step;
      return { title: description, intent: description, verify, ...step };
    }),
  };
}

/** What that client keeps of a plan. */
export function strippedPlan(given: JsonValue): JsonValue {
  const { risks, steps } = members(given);
  return {
    ...only(given, ["id", "title", "summary"]),
    risks: list(risks).map((risk) => only(risk, ["level", "text"])),
    steps: list(steps).map((step) => {
      const { actions, verify } = members(step);
      return {
        ...only(step, ["id", "title", "intent"]),
        actions: list(actions).map((action) => only(action, ["type"])),
        verify: list(verify).map((each) => only(each, ["type", "command"])),
      };
    }),
  };
}

/** True for a plan in that form: it has actions, each with only its type. No runnable plan has this form. */
export function isStripped(plan: JsonValue): boolean {
  const actions = list(members(plan)["steps"]).flatMap((step) => list(members(step)["actions"]));
  return (
    actions.length > 0 &&
    actions.every((action) => Object.keys(members(action)).length === 1 && members(action)["type"] !== undefined) &&
    digestOf(strippedPlan(plan)) === digestOf(plan)
  );
}

/**
 * The hash that the published client sends: on every level, it includes only names that also occur on the first one. So it
 * covers ids and titles but nothing that runs; it can detect a damaged body, but does not identify a plan.
 */
export function publishedHash(plan: JsonValue): string {
  const names = Object.keys(members(plan)).sort();
  const covered = (value: JsonValue): JsonValue => {
    if (isList(value)) return value.map(covered);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      names.flatMap((name) => {
        const member = value[name];
        return member === undefined || !Object.hasOwn(value, name) ? [] : [[name, covered(member)]];
      }),
    );
  };
  return sha256Hex(JSON.stringify(covered(plan)));
}

type JsonObject = Readonly<Record<string, JsonValue>>;

function only(value: JsonValue, names: readonly string[]): JsonObject {
  const found = members(value);
  return Object.fromEntries(
    names.flatMap((name) => {
      const member = found[name];
      return member === undefined ? [] : [[name, member]];
    }),
  );
}

function members(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isList(value) ? value : [];
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
