import { parsedJson } from "@gennai/protocol/json-value";
import type { Decision } from "../gate-journal.ts";

/** One interception by the rules, as logged. */
export interface RuleViolation {
  readonly toolCallId: string;
  readonly tool: string;
  /** Redacted. */
  readonly input: string;
  readonly rule: string;
  /** Why the rule refuses or asks. Left out in sessions of before. */
  readonly reason?: string;
  /** Place of the rule, `file:line`; absent for a built-in one. */
  readonly place?: string;
  /** `asked`: there was no answer, or not yet. `refused`: a user said no. */
  readonly action: "blocked" | "asked" | "confirmed" | "refused";
}

/**
 * The violation that a decision is, if a rule of damage control gave it: one of a rule file or of the floor. Undefined for
 * every other decision, e.g. of scope or freshness.
 */
export function violationOf(decision: Decision): RuleViolation | undefined {
  const { call, input, rule, reason, place, verdict, confirmation } = decision;
  if (verdict === "allow" && confirmation === undefined) return undefined;
  if (!/^(?:rules|floor|secrets|control-files)\//.test(rule)) return undefined;
  const of = { toolCallId: call.id, tool: call.name, input, rule, reason, ...(place !== undefined && { place }) };
  // A yes does not help where the rules refuse after it.
  if (confirmation?.answer === "yes") return { ...of, action: verdict === "deny" ? "blocked" : "confirmed" };
  if (confirmation?.answer === "no") return { ...of, action: "refused" };
  return { ...of, action: verdict === "deny" && confirmation === undefined ? "blocked" : "asked" };
}

/** What was tried, in a few words for a status: the command, or tool and path. */
export function violationWords(violation: Pick<RuleViolation, "tool" | "input">): string {
  const value: unknown = parsedJson(violation.input);
  const fields = ["command", "file_path", "path", "glob"];
  const found = isRecord(value)
    ? fields.map((field) => value[field]).find((text) => typeof text === "string")
    : undefined;
  const words = typeof found !== "string" ? violation.tool : isCommand(value) ? found : `${violation.tool} ${found}`;
  const line = words.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return line.length > 80 ? `${[...line].slice(0, 79).join("")}…` : line;
}

function isCommand(value: unknown): boolean {
  return isRecord(value) && typeof value["command"] === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
