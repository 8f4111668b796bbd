import type { CommandAnalysis } from "../command/command-analysis.ts";
import type { Policy } from "../policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../verdict.ts";

/** Commands run without a question only when they are proven to read; the floor's dangers ask or refuse. */
export function createCommandsPolicy(): Policy {
  return {
    name: "commands",
    kind: "guard",
    decide({ analysis }) {
      const commands = analysis.effects.flatMap((effect) =>
        effect.type === "exec" ? [commandVerdict(effect.command)] : [],
      );
      return strictest([allow, ...commands]);
    },
  };
}

/** What the analysis of one command says by itself. Dangers stand strictest first. */
export function commandVerdict(command: CommandAnalysis): Verdict {
  const [danger] = command.dangers;
  if (danger?.verdict === "deny") {
    return deny({
      code: "dangerous_command",
      rule: danger.rule,
      reason: `Security Policy Violation: ${danger.reason}`,
      hint: "Do it another way, or ask the user to run it.",
    });
  }
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
