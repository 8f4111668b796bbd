import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { findDeploy, isDeployTool, programOf } from "../command/dangers/find-deploy.ts";
import { foldName } from "../command/words/fold-name.ts";
import type { CommandAnalysis } from "../command-analysis.ts";
import { coveringNames } from "../covering-names.ts";
import { type Effect, isReadOnly } from "../effect.ts";
import { computeRisk } from "../policies/risk.ts";
import type { PolicyInput } from "../policy.ts";
import { programNamed } from "../programs/known-programs.ts";
import { allow, deny, type Verdict } from "../verdict.ts";

/** The built-in group of everything that publishes or deploys. */
export const deployGroup = "deploy";

/** The verdict on one call; also asked right before its effect and while it runs. */
export function emergencyVerdict(
  state: EmergencyState & { readonly problem?: string },
  { toolName, analysis }: Pick<PolicyInput, "toolName" | "analysis">,
): Verdict {
  if (state.stopAll) {
    return refuse("stopped", "stop-all", "All work is stopped by an emergency control.");
  }
  const commands = analysis.effects.flatMap((effect) => (effect.type === "exec" ? [effect.command] : []));
  if (commands.some(reachesControls)) {
    return refuse(
      "emergency_control",
      "people-only",
      "The agent's own controls are switched by people only, never by a command of the agent.",
    );
  }
  if (state.readOnly && !analysis.effects.every(onlyReads)) {
    const why = state.problem === undefined ? "" : ` (${state.problem})`;
    return refuse("read_only_mode", "read-only", `Read-only mode is on${why}: nothing may be changed or run.`);
  }
  if (state.disableHighImpact && (isAtLeast(computeRisk(analysis), "high") || commands.some(isUnresolved))) {
    return refuse("high_impact_disabled", "high-impact", "Actions of high impact are switched off.");
  }
  return blockedVerdict(state.blockedTools, coveringNames(toolName, analysis.effects), commands);
}

function blockedVerdict(
  blocked: readonly string[],
  tools: readonly string[],
  commands: readonly CommandAnalysis[],
): Verdict {
  if (blocked.length === 0) return allow;
  for (const name of blocked) {
    const what = blockedThing(name, tools, commands);
    if (what === undefined) continue;
    return refuse("tool_blocked", "blocked-tool", `${what} is blocked by the emergency control for ${name}.`);
  }
  if (commands.some(isUnresolved)) {
    return refuse(
      "tool_blocked",
      "blocked-tool",
      `Blocked for now: ${blocked.join(", ")}. It is not certain what this command would run, so it may be one of them.`,
      "Write it out plainly, as separate commands with literal names.",
    );
  }
  return allow;
}

/**
 * What a blocked name refers to in a call: the tool, a program in a command, or what the group `deploy` covers. @param tools
 * the call's own first
 */
function blockedThing(
  name: string,
  tools: readonly string[],
  commands: readonly CommandAnalysis[],
): string | undefined {
  if (tools.some((tool) => isNamed(tool, name) || (name === deployGroup && isDeployTool(tool)))) {
    return `The tool ${tools[0]}`;
  }
  for (const command of commands) {
    const deploy = name === deployGroup ? findDeploy(command) : undefined;
    if (deploy !== undefined) return deploy;
    for (const { name: program, words } of command.commands) {
      if (programOf(program) === name) return program;
      const named = words.some((word) => word !== undefined && programOf(word) === name);
      if (named && !command.readsOnly) return `A command that names ${name}`;
    }
  }
  return undefined;
}

/** The form in which names of tools are compared and kept: letter case and ignorable code points do not count. */
export function foldToolName(name: string): string {
  return foldName(name.trim());
}

/** Also a whole server, `mcp__vercel`, and a tool of any server by its own name. */
function isNamed(toolName: string, blocked: string): boolean {
  const name = foldToolName(toolName);
  return (
    name === blocked || name.startsWith(`${blocked}__`) || (name.startsWith("mcp__") && name.endsWith(`__${blocked}`))
  );
}

function onlyReads(effect: Effect): boolean {
  return (
    isReadOnly(effect) && !(effect.type === "exec" && (isUnresolved(effect.command) || effect.command.risk !== "low"))
  );
}

function isUnresolved(command: CommandAnalysis): boolean {
  return command.unresolved.length > 0;
}

/** `gennai emergency …` and its like, however it is started. */
function reachesControls(command: CommandAnalysis): boolean {
  if (command.readsOnly) return false;
  return command.commands.some(({ name, words }) => {
    const all = [name, ...words].flatMap((word) => (word === undefined ? [] : word.split(/[\s"'`;|&(),[\]]+/)));
    const own = all.findIndex((word) => isOwnProgram(word));
    if (own === -1 && programNamed(programOf(name))?.tasks !== "package.json") return false;
    // `gennai open` gives anyone who has it a way into the server.
    if (own !== -1 && foldName(all[own + 1] ?? "") === "open") return true;
    return all.slice(own + 1).some((word, index, rest) => isControl(word, rest[index + 1]));
  });
}

function isOwnProgram(word: string): boolean {
  return (
    /^gennai\b/.test(programOf(word)) ||
    /(?:^|\/)cli\/(?:src|dist)\/main\.[cm]?[jt]s$/.test(word) ||
    /(?:^|\/)gennai\//.test(word)
  );
}

/** Words reserved for people: by command group, the words after it. */
const peoplesWords: Readonly<Record<string, ReadonlySet<string>>> = {
  answers: new Set(["allow"]),
  background: new Set(["open"]),
  guard: new Set(["install", "uninstall"]),
  hooks: new Set(["trust"]),
  policy: new Set(["sign", "fetch"]),
  intents: new Set(["accept"]),
  mcp: new Set(["accept"]),
  plan: new Set(["approve", "execute"]),
  ledger: new Set(["purge", "repair", "resend", "rotate-key"]),
  people: new Set(["pin"]),
};

function isControl(word: string, next: string | undefined): boolean {
  const verb = foldName(word);
  // `gennai acp --set-key PROVIDER`.
  if (verb.startsWith("--set-key")) return true;
  if (verb === "emergency") return next === undefined || foldName(next) !== "status";
  return next !== undefined && Object.hasOwn(peoplesWords, verb) && peoplesWords[verb]?.has(foldName(next)) === true;
}

function refuse(code: string, rule: string, reason: string, hint?: string): Verdict {
  return deny({
    code,
    rule: `emergency/${rule}`,
    reason,
    hint: hint ?? "Do not look for a way around it. Tell the user; a person can lift it with gennai emergency.",
  });
}
