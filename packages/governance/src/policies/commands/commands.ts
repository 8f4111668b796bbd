import type { CommandAnalysis, CommandDanger } from "../../command/command-analysis.ts";
import { looksBelow } from "../../command/grammar/only-reads.ts";
import type { Effect } from "../../effect.ts";
import type { Policy } from "../../policy.ts";
import { askedByRules } from "../../rules/asked-by-rules.ts";
import type { RulesPolicyPorts } from "../../rules/rules-policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../../verdict.ts";
import type { EditingMode } from "../git/branch.ts";
import { isEverydayCommand, runsFile } from "./everyday-commands.ts";

/** How the server's own commands are isolated. */
export interface CommandSurroundings {
  /** They are isolated from the rest of the machine, from the network and from the workspace's control files. */
  readonly sandboxed: boolean;
  readonly mode: EditingMode;
  /** Real absolute path of the workspace. */
  readonly root: string;
  /** Whether HEAD is on the branch this session may write to; called right before a command runs under this rule. */
  readonly onOwnBranch: () => boolean;
  /**
   * Whether a path (absolute) leads to a file with secrets, or to a directory that contains one; for a wildcard in its last
   * part, whether it may. Undefined if the files cannot be examined: then no directory is searched without a question. Not
   * called if a sandbox hides such files.
   */
  readonly reachesSecret?: ((path: string, isPattern: boolean) => boolean) | undefined;
  /** Whether a file (absolute path) was created or changed since the session began, so that no user has seen its content. */
  readonly isNew?: (path: string) => boolean;
}

/**
 * The floor's dangers ask or refuse. A staged command is judged by its result; if it cannot be staged, it runs without a
 * question if it is in the small closed grammar. In a sandbox, on the agent's own branch, everyday commands that build, test
 * and commit do too.
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
        if (effect.type !== "exec" || mayRunBoxed(effect, surroundings)) continue;
        const asked = rules === undefined ? undefined : await askedByRules(effect.command, rules, { signal });
        const verdict = commandVerdict(effect.command, asked);
        // Its effects are judged when they are known.
        if (effect.staged !== true || verdict.type === "deny") verdicts.push(verdict);
        if (effect.staged !== true && verdict.type === "allow")
          verdicts.push(unseenSecrets(effect.command, surroundings));
      }
      return strictest(verdicts);
    },
  };
}

function mayRunBoxed(
  effect: Extract<Effect, { readonly type: "exec" }>,
  surroundings: CommandSurroundings | undefined,
): boolean {
  if (surroundings === undefined || !surroundings.sandboxed || surroundings.mode !== "branch") return false;
  if (effect.where !== "server" || !effect.cwd.inside) return false;
  if (runsNewScript(effect.command, surroundings)) return false;
  return isEverydayCommand(effect.command, surroundings.root) && surroundings.onOwnBranch();
}

/** Secrets that no word of the command names: behind a link, or below a directory that it searches. */
function unseenSecrets(command: CommandAnalysis, surroundings: CommandSurroundings | undefined): Verdict {
  if (surroundings === undefined || surroundings.sandboxed) return allow;
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

/** A script that the agent wrote is an unjudged command in another place. */
function runsNewScript(command: CommandAnalysis, { isNew }: CommandSurroundings): boolean {
  if (isNew === undefined || !command.commands.some(({ name }) => runsFile.has(name))) return false;
  return command.paths.some(({ access, absolute }) => access !== "list" && isNew(absolute));
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
