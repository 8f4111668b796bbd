import type { CommandAnalysis, CommandDanger } from "../command/command-analysis.ts";
import { textsOfOne } from "./command-texts.ts";
import type { CompiledRules } from "./compile/compile-rules.ts";
import { matchPattern } from "./match-pattern.ts";
import type { RulesPolicyPorts } from "./rules-policy.ts";

/**
 * The floor's refusals that become questions, because a rule with `ask: true` matches the refused command: its author wants a
 * user to decide.
 */
export async function askedByRules(
  { dangers }: CommandAnalysis,
  ports: RulesPolicyPorts,
  options: { readonly signal: AbortSignal },
): Promise<ReadonlySet<CommandDanger>> {
  const asked = new Set<CommandDanger>();
  const askable = dangers.filter((danger) => danger.askable !== undefined);
  if (askable.length === 0) return asked;
  const rules = await ports.current();
  for (const danger of askable) if (await isAsked(danger, rules, ports, options)) asked.add(danger);
  return asked;
}

async function isAsked(
  { askable: command }: CommandDanger,
  { patterns }: CompiledRules,
  { slow }: RulesPolicyPorts,
  options: { readonly signal: AbortSignal },
): Promise<boolean> {
  if (command === undefined) return false;
  const texts = textsOfOne(command);
  for (const pattern of patterns) {
    // A pattern that could not be checked counts as a match where it refuses, and as none where it would soften.
    if (pattern.rule.ask && (await matchPattern(pattern, texts, slow, options)) === "match") return true;
  }
  return false;
}
