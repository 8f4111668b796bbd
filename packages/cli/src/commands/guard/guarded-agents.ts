import { homedir } from "node:os";
import { join } from "node:path";
import { claudeCode, claudeCodeEvents } from "@gennai/governance/guard/claude-code";
import { codex, codexEvents } from "@gennai/governance/guard/codex";
import type { GuardedHost } from "@gennai/governance/guard/guarded-host";
import { CliError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-code.ts";

/** An agent that a hook can be put in place for. */
export interface GuardedAgent {
  readonly host: GuardedHost;
  /** Events for which it is. */
  readonly events: readonly string[];
  /** Its files of hooks for a project, absolute: ours goes into the first; the others are looked at. */
  projectFiles(workspace: string): readonly [string, ...string[]];
  /** The user's own, for all projects. */
  userFile(environment: NodeJS.ProcessEnv): string;
  /** What its user has to do besides, after an install. */
  readonly nextStep?: string;
  /** What it cannot do, or does by itself: tried with the real program. Told by `status`, and in the guide. */
  readonly limits: readonly string[];
}

const agents: readonly GuardedAgent[] = [
  {
    host: claudeCode,
    events: claudeCodeEvents,
    // The one that is not shared: the program lies elsewhere on every machine.
    projectFiles: (workspace) => [
      join(workspace, ".claude", "settings.local.json"),
      join(workspace, ".claude", "settings.json"),
    ],
    userFile: ({ CLAUDE_CONFIG_DIR, HOME }) =>
      join(CLAUDE_CONFIG_DIR || join(HOME || homedir(), ".claude"), "settings.json"),
    limits: [
      "A file named with @ in a prompt is read without a hook.",
      "A hook that takes longer than its time, or that cannot be started, does not stop a call: Claude Code goes on without it.",
      "What a command does is not seen, only what it says: commands that are not proven to read are asked about.",
      "Hooks and settings of plugins and of an organisation are not looked at.",
      "A command that runs already is not stopped by an emergency control; Claude Code stops at its end.",
    ],
  },
  {
    host: codex,
    events: codexEvents,
    projectFiles: (workspace) => [join(workspace, ".codex", "hooks.json")],
    userFile: ({ CODEX_HOME, HOME }) => join(CODEX_HOME || join(HOME || homedir(), ".codex"), "hooks.json"),
    nextStep: "Codex runs no hook that its user has not trusted: open /hooks in Codex, and trust these.",
    limits: [
      "Until its user trusts the hook in /hooks, Codex leaves it out and runs every call.",
      "A hook cannot have Codex ask: what would be asked about is refused, with the reason. Rules of yours can allow it.",
      "Text typed into a command that runs (write_stdin) comes to no hook: commands that could act on it are refused as they start.",
      "It does not say how a command ended, and of some that write files not even that they did.",
      "What a command does is not seen, only what it says: commands that are not proven to read are refused.",
      "Hooks in config.toml, of plugins and of an organisation are not looked at, nor whether hooks are switched off there.",
      "A command that runs already is not stopped by an emergency control.",
    ],
  },
];

/** Throws `CliError` for one that there is no guard for. */
export function guardedAgents(name: string): readonly GuardedAgent[] {
  const named = agents.filter(({ host }) => name === "all" || host.id === name);
  if (named.length > 0) return named;
  throw new CliError(`There is no guard for ${JSON.stringify(name.slice(0, 100))}.`, {
    exitCode: exitCode.usage,
    next: [`Agents: ${agents.map(({ host }) => host.id).join(", ")}, all.`],
  });
}

/** Throws `CliError` as `guardedAgents` does. */
export function guardedHostNamed(name: string): GuardedHost {
  const [agent] = name === "all" ? guardedAgents("") : guardedAgents(name);
  if (agent === undefined) throw new TypeError("There is no agent.");
  return agent.host;
}
