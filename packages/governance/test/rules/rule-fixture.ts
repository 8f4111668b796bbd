import { type CompiledRules, compileRules } from "#rules/compile/compile-rules";
import type { RuleLayer } from "#rules/compile/rule-set";
import type { SlowPattern } from "#rules/compile/slow-pattern";
import { parseRules } from "#rules/parse-rules";

export const place = { root: "/ws", homes: ["/home/dev"] } as const;

export function rulesOf(
  data: unknown,
  options: { readonly layer?: RuleLayer; readonly readOnly?: string } = {},
): CompiledRules {
  const source = { layer: options.layer ?? "project", file: "rules.yaml", lineOf: () => undefined } as const;
  const { rules } = parseRules(data, source);
  return compileRules([rules], { place, ...(options.readOnly === undefined ? {} : { readOnly: options.readOnly }) });
}

/** Runs slow patterns in this thread; the texts of tests are short. */
export const inThread: SlowPattern = {
  matches: async ({ source, flags }, text) => (new RegExp(source, flags).test(text) ? "match" : "no-match"),
};

export const never: SlowPattern = { matches: async () => "gave-up" };
