import { looksBelow } from "../command/only-reads.ts";
import type { CommandAnalysis, CommandDanger } from "../command-analysis.ts";
import type { Policy } from "../policy.ts";
import { textsOfOne } from "../rules/command-texts.ts";
import type { CompiledRules } from "../rules/compile/compile-rules.ts";
import { matchPattern } from "../rules/match-pattern.ts";
import type { RulesPolicyPorts } from "../rules/rules-policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../verdict.ts";

export interface CommandSurroundings {
  /**
   * Whether a path (absolute) leads to a file with secrets, or to a directory that contains one; for a wildcard in its last
   * part, whether it may. Undefined if the files cannot be examined: then no directory is searched without a question.
   */
  readonly reachesSecret: ((path: string, isPattern: boolean) => boolean) | undefined;
}

/**
 * The floor's dangers ask or refuse. A staged command is judged by its result. One that is not staged runs without a question
 * only if it is in the small closed grammar of what reads.
 *
 * @param options.rules whose `ask: true` turns the floor's softer refusals into questions; without them, none
 */
export function createCommandsPolicy(
  options: { readonly surroundings?: CommandSurroundings | undefined; readonly rules?: RulesPolicyPorts } = {},
): Policy {
  const { surroundings, rules } = options;
  return {
    name: "commands",
    kind: "guard",
    async decide({ analysis }, { signal }) {
      const verdicts: Verdict[] = [allow];
      for (const effect of analysis.effects) {
        if (effect.type !== "exec") continue;
        const asked = rules === undefined ? undefined : await askedByRules(effect.command, rules, { signal });
        const verdict = commandVerdict(effect.staged === true ? heldOnStage(effect.command) : effect.command, asked);
        // Its effects are judged when they are known.
        if (effect.staged !== true || verdict.type === "deny") verdicts.push(verdict);
        if (effect.staged !== true && verdict.type === "allow")
          verdicts.push(unseenSecrets(effect.command, surroundings));
      }
      return strictest(verdicts);
    },
  };
}

/** Without the dangers that a stage holds. */
function heldOnStage(command: CommandAnalysis): CommandAnalysis {
  return { ...command, dangers: command.dangers.filter(({ held }) => held !== true) };
}

/** Secrets that no word of the command names: behind a link, or below a directory that it searches. */
function unseenSecrets(command: CommandAnalysis, surroundings: CommandSurroundings | undefined): Verdict {
  if (surroundings === undefined) return allow;
  const { reachesSecret } = surroundings;
  const isReached =
    reachesSecret === undefined
      ? command.commands.some(looksBelow) || command.paths.some(({ access, pattern }) => access === "read" && pattern)
      : // For files that git prints, git itself is asked.
        command.commands.some(({ name }) => name !== "git") &&
        command.paths.some(
          ({ access, absolute, pattern = false }) => access === "read" && reachesSecret(absolute, pattern),
        );
  return isReached
    ? ask({
        code: "command_needs_confirmation",
        rule: "commands/may-show-secrets",
        reason:
          "This command may show what is in files with secrets, below a directory or behind a link that it names.",
      })
    : allow;
}

/**
 * The verdict from the analysis of one command alone.
 *
 * @param asked dangers that become questions instead of refusals
 */
export function commandVerdict(command: CommandAnalysis, asked?: ReadonlySet<CommandDanger>): Verdict {
  const refusal = command.dangers.find((danger) => danger.verdict === "deny" && !asked?.has(danger));
  if (refusal !== undefined) {
    return deny({
      code: "dangerous_command",
      rule: refusal.rule,
      reason: `Security Policy Violation: ${refusal.reason}`,
      hint: "Do it another way, or ask the user to run it.",
    });
  }
  const [danger] = command.dangers;
  if (danger !== undefined)
    return ask({ code: "command_needs_confirmation", rule: danger.rule, reason: danger.reason });
  const [unresolved] = command.unresolved;
  if (unresolved !== undefined) {
    return ask({
      code: "command_not_resolved",
      rule: "commands/unresolved",
      reason: `What this command does is not certain: ${command.unresolved.slice(0, 3).join("; ")}.`,
      hint: "Write it out plainly, as separate commands with literal names.",
    });
  }
  if (!command.readsOnly || command.risk !== "low") {
    return ask({
      code: "command_needs_confirmation",
      rule: "commands/not-proven-to-read",
      reason: "This command is not proven to only read.",
    });
  }
  return allow;
}

/**
 * The floor's refusals that become questions, because a rule with `ask: true` matches the refused command: its author wants a
 * user to decide.
 */
async function askedByRules(
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
