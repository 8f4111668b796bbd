import { homedir } from "node:os";
import { join } from "node:path";
import { claudeCode, claudeCodeEvents } from "@gennai/guard/hosts/claude-code";
import { codex, codexEvents } from "@gennai/guard/hosts/codex";
import { copilot, copilotEvents } from "@gennai/guard/hosts/copilot";
import { gemini, geminiEvents } from "@gennai/guard/hosts/gemini";
import type { GuardedHost } from "@gennai/guard/hosts/guarded-host";
import { opencode } from "@gennai/guard/hosts/opencode";
import { pi } from "@gennai/guard/hosts/pi";
import { CliError } from "../../cli-error.ts";
import { exitCode } from "../../exit-code.ts";
import { guardPlugin, opencodePlugin, piExtension } from "./guard-plugin.ts";
import type { GuardedFormat } from "./guarded-file.ts";
import { type HookProgram, shellLine } from "./hook-program.ts";
import { type HookEntry, hookSettings } from "./hook-settings.ts";

/** An agent for which a hook can be installed. */
export interface GuardedAgent {
  readonly host: GuardedHost;
  /** How our hook is written in its files. */
  format(program: HookProgram): GuardedFormat;
  /** Input that is no call, for testing whether the hook answers. */
  readonly greeting: string;
  /** True if the agent itself reports in which project it works. */
  readonly saysProject?: true;
  /** Name of its program on the search path. */
  readonly program: string;
  /** Absolute paths of its hook files for a project: ours is written to the first; the others are only examined. */
  projectFiles(workspace: string): readonly [string, ...string[]];
  /** Where its user's own configuration is. */
  home(environment: NodeJS.ProcessEnv): string;
  /** Variables of its environment that make it start no hook. */
  readonly switches?: readonly string[];
  /** Its file of hooks for all projects, in that directory. */
  readonly userFile: string;
  /** What its user must do after an installation into a project. */
  readonly nextStep?: string;
  /** What its user must do after an installation into the user's own settings. */
  readonly nextStepOfUser?: string;
  /** What it cannot do, or does on its own, as tried with the real program. Shown by `status` and in the guide. */
  readonly limits: readonly string[];
}

/** Seconds that the host waits for the hook: more than the hook waits for the server. */
const timeout = 60;

/**
 * Before a call, every exit code but 2 means that the hook failed, and most hosts then run the call. At other events, 2 would
 * keep the agent from stopping.
 * @param before the event before a call
 */
const inSettings =
  (
    events: readonly string[],
    before: string,
    { refusal = "exit 2", ...entry }: Partial<Omit<HookEntry, "commands">> & { readonly refusal?: string } = {},
  ) =>
  (program: HookProgram): GuardedFormat => {
    const commands = events.map((event): [string, string] => [
      event,
      `${shellLine(program)} || ${event === before ? refusal : "exit 1"}`,
    ]);
    return hookSettings({ timeout, ...entry, commands: Object.fromEntries(commands) });
  };

/** Gemini CLI takes exit code 2 as a refusal only if there is a message. */
const saidRefusal = "{ echo 'The hook of Gennai failed, so nothing is done.' >&2; exit 2; }";

const settingsGreeting = '{"session_id":"doctor","hook_event_name":"Doctor"}';
const pluginGreeting = '{"event":"hello"}';
const pluginFile = "gennai-guard.js";
const trustCodex = "Codex runs no hook that its user has not trusted: open /hooks in Codex, and trust these.";

const agents: readonly GuardedAgent[] = [
  {
    host: claudeCode,
    // By its reference of hooks since 2.1.295; 2.1.290 was seen to leave it out, and to start the hook.
    format: inSettings(claudeCodeEvents, "PreToolUse", { more: { PreToolUse: { onFailure: "block" } } }),
    greeting: settingsGreeting,
    saysProject: true,
    // The first is not shared with others, because the program's path differs between machines.
    projectFiles: (workspace) => [
      join(workspace, ".claude", "settings.local.json"),
      join(workspace, ".claude", "settings.json"),
    ],
    program: "claude",
    home: ({ CLAUDE_CONFIG_DIR, HOME }) => CLAUDE_CONFIG_DIR || join(HOME || homedir(), ".claude"),
    switches: ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"],
    userFile: "settings.json",
    limits: [
      "A file named with @ in a prompt is read without a hook.",
      "With --bare or --safe-mode Claude Code starts no hook, and every call runs.",
      "Before 2.1.295, a hook that takes longer than its time, or that cannot be started, does not stop a call.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are asked about.",
      "Hooks and settings of plugins and of an organisation are not looked at.",
      "A command that runs already is not stopped by an emergency control; Claude Code stops at its end.",
    ],
  },
  {
    host: codex,
    format: inSettings(codexEvents, "PreToolUse"),
    greeting: settingsGreeting,
    projectFiles: (workspace) => [join(workspace, ".codex", "hooks.json")],
    program: "codex",
    home: ({ CODEX_HOME, HOME }) => CODEX_HOME || join(HOME || homedir(), ".codex"),
    userFile: "hooks.json",
    nextStep: trustCodex,
    nextStepOfUser: trustCodex,
    limits: [
      "Until its user trusts the hook in /hooks, Codex leaves it out and runs every call.",
      "A hook cannot make Codex ask: what would be asked about is refused, with the reason. Do it yourself then.",
      "Text typed into a running command (write_stdin) reaches no hook: commands that could act on it are refused when they start.",
      "It does not say how a command ended, and of some that write files not even that they did.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are refused.",
      "Hooks in config.toml, of plugins and of an organisation are not looked at, nor whether hooks are switched off there.",
      "A command that runs already is not stopped by an emergency control.",
    ],
  },
  {
    host: copilot,
    format: inSettings(copilotEvents, "preToolUse", { flat: true }),
    greeting: '{"sessionId":"doctor"}',
    projectFiles: (workspace) => [
      join(workspace, ".github", "copilot", "settings.local.json"),
      join(workspace, ".github", "copilot", "settings.json"),
    ],
    program: "copilot",
    home: ({ COPILOT_HOME, HOME }) => COPILOT_HOME || join(HOME || homedir(), ".copilot"),
    userFile: join("hooks", "gennai-guard.json"),
    nextStep:
      "Copilot CLI starts no hook of a project whose directory its user has not trusted: say yes when it asks, or install it with --user.",
    limits: [
      "In a directory that is not trusted, it leaves the project's hook out, and every call runs.",
      "By its reference, a hook that takes longer than its time does not stop a call, and disableAllHooks switches all of them off.",
      "Where its user cannot be asked (copilot -p), what would be asked about is refused, with the reason.",
      "When a server runs but does not answer, every call is refused without a reason.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are asked about.",
      "Its hook cannot end its work: after stop-all each call is refused. A command that runs already is not stopped.",
      "It also starts the hooks in Claude Code's settings; ours there lets its calls go on. Hooks of plugins and of an organisation are not looked at.",
      "Files named with @, its window, web pages, skills and tools of MCP servers were not tried with the program itself. Its own cloud agent is not guarded.",
    ],
  },
  {
    host: gemini,
    format: inSettings(geminiEvents, "BeforeTool", { timeout: timeout * 1000, refusal: saidRefusal }),
    greeting: settingsGreeting,
    // The agent reads the settings of the directory in which it was started, and starts hooks there.
    saysProject: true,
    projectFiles: (workspace) => [join(workspace, ".gemini", "settings.json")],
    program: "gemini",
    home: ({ GEMINI_CLI_HOME, HOME }) => join(GEMINI_CLI_HOME || HOME || homedir(), ".gemini"),
    userFile: "settings.json",
    limits: [
      "In a directory that is not trusted, also with --skip-trust, it leaves all hooks out, and every call runs.",
      "By its reference, a hook that takes longer than its time does not stop a call, and hooksConfig switches all of them off.",
      "It takes a question of a hook, but waits for ever where nobody sees it (gemini -p): what would be asked about is refused, with the reason. Do it yourself then.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are refused, and so are sub-agents.",
      "A file named with @ in a prompt, and a line typed with !, reach no hook; as an agent in an editor (gemini --acp) it starts none, by what its program says.",
      "Hooks of extensions and of an organisation are not looked at. A settings file with comments is left alone.",
      "A command that runs already is not stopped by an emergency control; Gemini CLI is told to stop at its next call.",
      "Its window, web pages, sub-agents and tools of MCP servers were not tried with the program itself.",
    ],
  },
  {
    host: opencode,
    format: (program) => guardPlugin("opencode", program, opencodePlugin),
    greeting: pluginGreeting,
    projectFiles: (workspace) => [join(workspace, ".opencode", "plugins", pluginFile)],
    program: "opencode",
    switches: ["OPENCODE_PURE"],
    home: ({ XDG_CONFIG_HOME, HOME }) => join(XDG_CONFIG_HOME || join(HOME || homedir(), ".config"), "opencode"),
    userFile: join("plugins", pluginFile),
    limits: [
      "A plugin cannot make opencode ask: what would be asked about is refused, with the reason. Do it yourself then.",
      "A plugin that cannot be loaded, and all of them with --pure, are left out, and every call runs.",
      "Files and shell lines in a prompt or a command of opencode's (@file, !`line`) reach no hook; nor do formatters that run after an edit.",
      "Other plugins are not looked at. Of a call that one of them changed you hear when it has run.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are refused.",
      "A command that runs already is not stopped by an emergency control; opencode is told to stop at its next call.",
      "apply_patch, which it offers to some models only, web pages, tools of MCP servers and sub-agents were not tried with the program itself.",
    ],
  },
  {
    host: pi,
    format: (program) => guardPlugin("pi", program, piExtension),
    greeting: pluginGreeting,
    projectFiles: (workspace) => [join(workspace, ".pi", "extensions", pluginFile)],
    program: "pi",
    home: ({ PI_CODING_AGENT_DIR, HOME }) => PI_CODING_AGENT_DIR || join(HOME || homedir(), ".pi", "agent"),
    userFile: join("extensions", pluginFile),
    nextStep:
      "pi loads no extension of a project that its user has not trusted: say yes when it asks, or install it with --user.",
    limits: [
      "In a project that is not trusted, and with --no-extensions, pi leaves it out, and every call runs.",
      "Where nobody can be asked (pi -p, --mode json), what would be asked about is refused, with the reason.",
      "A line that you type with ! is yours, and reaches no hook; neither do files named with @ in a prompt.",
      "Other extensions are not looked at: one may change a call after it was judged, and you hear of it when it has run.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are asked about.",
      "A command that runs already is not stopped by an emergency control; pi is told to stop at its next call.",
      "Its tools grep and find were not tried with the program itself, nor its window: the question was, through its RPC mode.",
    ],
  },
];

/** The agent of this name, or all for `all`. Throws `CliError` if it has no guard. */
export function guardedAgents(name: string): readonly GuardedAgent[] {
  const named = agents.filter(({ host }) => name === "all" || host.id === name);
  if (named.length > 0) return named;
  throw new CliError(`There is no guard for ${JSON.stringify(name.slice(0, 100))}.`, {
    exitCode: exitCode.usage,
    next: [`Agents: ${agents.map(({ host }) => host.id).join(", ")}, all.`],
  });
}

/** The host of one agent. Throws `CliError` as `guardedAgents` does. */
export function guardedHostNamed(name: string): GuardedHost {
  const [agent] = name === "all" ? guardedAgents("") : guardedAgents(name);
  if (agent === undefined) throw new TypeError("There is no agent.");
  return agent.host;
}
