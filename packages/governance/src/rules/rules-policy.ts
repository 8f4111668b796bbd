import { type PathProtection, pathRuleKinds, protectionsAgainst } from "@gennai/protocol/model/governance/rule-kind";
import { coveringNames } from "../covering-names.ts";
import type { Effect, WorkspacePath } from "../effect.ts";
import { isReadOnly } from "../effect.ts";
import type { Policy, PolicyInput } from "../policy.ts";
import { allow, ask, deny, laidDownByRoot, strictest, type Verdict } from "../verdict.ts";
import { commandPathFindings } from "./command-path-rules.ts";
import { type CommandTexts, commandTexts } from "./command-texts.ts";
import { globReach } from "./compile/aimed-glob.ts";
import { type CompiledRules, excepted, pathRule } from "./compile/compile-rules.ts";
import { pathForm, rawForm } from "./compile/path-form.ts";
import type { NamedRule, PathRule, PatternRule } from "./compile/rule-set.ts";
import type { SlowPattern } from "./compile/slow-pattern.ts";
import { matchPattern, type PatternMatch } from "./match-pattern.ts";

export interface RulesPolicyPorts {
  /** The rules in force now. One decision works on one set of them. */
  current(): CompiledRules | Promise<CompiledRules>;
  readonly slow: SlowPattern;
}

/** Damage control: patterns and protected paths of the floor, the user and the project. */
export function createRulesPolicy(ports: RulesPolicyPorts): Policy {
  return {
    name: "rules",
    kind: "guard",
    async decide(input, options) {
      return together(await ruleVerdicts(input, await ports.current(), ports.slow, options));
    },
  };
}

/** The strictest; a question names every rule that asks, so that an answer to one does not answer another. */
export function together(verdicts: readonly Verdict[]): Verdict {
  const verdict = strictest([allow, ...verdicts]);
  if (verdict.type !== "ask") return verdict;
  const { rule } = verdict.finding;
  const asking = new Set(verdicts.flatMap((each) => (each.type === "ask" ? [each.finding.rule] : [])));
  asking.delete(rule);
  return asking.size === 0 ? verdict : ask({ ...verdict.finding, alongside: [...asking].sort() });
}

/** Every rule that a call meets, not only the strictest. Empty when none does. */
export async function ruleVerdicts(
  input: Pick<PolicyInput, "toolName" | "analysis">,
  rules: CompiledRules,
  slow: SlowPattern,
  options: { readonly signal: AbortSignal },
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const name of coveringNames(input.toolName, input.analysis.effects)) {
    const rule = rules.tools.get(name.toLowerCase());
    if (rule !== undefined) verdicts.push(violation(rule, `the tool ${input.toolName} is denied.`));
  }
  if (rules.readOnly !== undefined && !input.analysis.effects.every(isReadOnly)) {
    verdicts.push(
      deny({
        code: "rules_invalid",
        rule: "rules/invalid",
        reason: `Security Policy Violation: nothing is changed while the rules cannot be used. ${rules.readOnly}`,
        hint: "Ask the user to correct the rule file.",
      }),
    );
  }
  for (const effect of input.analysis.effects) {
    verdicts.push(...pathVerdicts(effect, rules));
    if (effect.type !== "exec") continue;
    for (const { rule, raw, what } of commandPathFindings(effect, rules)) {
      verdicts.push(pathViolation(rule, raw, what));
    }
    verdicts.push(...(await patternVerdicts(commandTexts(effect.command), rules, slow, options)));
  }
  return verdicts;
}

async function patternVerdicts(
  texts: CommandTexts,
  rules: CompiledRules,
  slow: SlowPattern,
  options: { readonly signal: AbortSignal },
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const add = (rule: PatternRule, match: PatternMatch): void => {
    if (match !== "no-match") verdicts.push(patternVerdict(rule, match));
  };
  for (const pattern of rules.patterns) {
    const match = matchPattern(pattern, texts, slow, options);
    add(pattern.rule, match instanceof Promise ? await match : match);
  }
  return verdicts;
}

function patternVerdict(rule: PatternRule, match: PatternMatch): Verdict {
  const doubt = match === "gave-up" ? " (the pattern took too long to check, which counts as a match)" : "";
  const reason = `${rule.reason}${doubt}`;
  return rule.ask
    ? ask({ code: "rule_asks", rule: rule.name, reason, ...placeOf(rule), ...(isBuiltIn(rule) ? {} : { answerMs }) })
    : violation(rule, reason);
}

/** The floor's rules are in no file that a user could open. */
function placeOf(rule: NamedRule): { readonly place?: string } {
  return isBuiltIn(rule) ? {} : { place: rule.place };
}

function isBuiltIn({ name }: NamedRule): boolean {
  return name.startsWith("rules/floor/");
}

/** The time that other programs with the same files give a user for a rule with `ask: true`. */
const answerMs = 30_000;

function pathVerdicts(effect: Effect, rules: CompiledRules): readonly Verdict[] {
  switch (effect.type) {
    case "read":
    case "list":
      return broken(effect.path, protectionsAgainst("read"), rules);
    case "search":
      return [
        ...broken(effect.path, protectionsAgainst("read"), rules),
        ...aimedAtUnread(effect.glob, effect.path, rules),
      ];
    case "write":
    case "propose":
      return broken(effect.path, protectionsAgainst(effect.operation === "delete" ? "delete" : "write"), rules);
    case "exec":
      // Paths in a command are judged separately; without a path, it uses its working directory.
      return broken(effect.cwd, protectionsAgainst("read"), rules);
    case "external":
      return effect.paths.flatMap((path) =>
        broken(path, protectionsAgainst(effect.readsOnly ? "read" : "delete"), rules),
      );
    case "git":
    case "net":
    case "session":
      return [];
  }
}

function broken(path: WorkspacePath, protections: readonly PathProtection[], rules: CompiledRules): readonly Verdict[] {
  const forms = [pathForm(path.absolute, rules.place.root), rawForm(path.raw, rules.place)];
  return protections.flatMap((protection) => {
    const rule = pathRule(rules, protection, forms);
    return rule === undefined ? [] : [pathViolation(rule, path.raw, pathRuleKinds[protection].broken)];
  });
}

function aimedAtUnread(glob: string | undefined, path: WorkspacePath, rules: CompiledRules): readonly Verdict[] {
  if (glob === undefined || glob.startsWith("!")) return [];
  const form = rawForm(`${path.raw === "" ? "." : path.raw}/${glob}`, rules.place);
  for (const group of rules.groups) {
    if (!protectionsAgainst("read").includes(group.protection)) continue;
    for (const compiled of group.paths) {
      if (globReach(glob, compiled, { dot: true }) === "aimed" && !excepted(group, form)) {
        return [pathViolation(compiled.rule, glob, pathRuleKinds[group.protection].broken)];
      }
    }
  }
  return [];
}

function pathViolation(rule: PathRule, raw: string, what: string): Verdict {
  return violation(rule, `${raw} ${what} (${rule.pattern}).`);
}

function violation(rule: NamedRule, reason: string): Verdict {
  const finding = { rule: rule.name, reason: `Security Policy Violation: ${reason}`, ...placeOf(rule) };
  return rule.policy === undefined
    ? deny({
        ...finding,
        code: "rule_violation",
        hint: "Do it another way, or ask the user to do it or to change the rule.",
      })
    : deny(laidDownByRoot({ ...finding, code: "managed_policy" }, rule.policy));
}
