import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { claudeCode, claudeCodeEvents } from "@gennai/governance/guard/claude-code";
import type { GuardedHost } from "@gennai/governance/guard/guarded-host";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { provenServers } from "../../connection/proven-servers.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import type { Console } from "../../terminal/console.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { GuardedSettingsFile, relayPath } from "./guarded-settings-file.ts";
import type { HookEntry } from "./hook-settings.ts";

export interface GuardFlags {
  readonly workspace?: string;
  readonly user?: boolean;
  readonly json?: boolean;
}

/** Where systems have it. Without it, Node asks by itself, which takes longer. */
const perls = ["/usr/bin/perl", "/usr/local/bin/perl"];

/** Seconds that the host waits for the hook: more than the hook waits for the server. */
const timeout = 60;

/** What the host cannot do, or does by itself; told by `status`, and in the guide. */
const limits: Readonly<Record<string, readonly string[]>> = {
  "claude-code": [
    "A file named with @ in a prompt is read without a hook.",
    "A hook that takes longer than its time, or that cannot be started, does not stop a call: Claude Code goes on without it.",
    "What a command does is not seen, only what it says: commands that are not proven to read are asked about.",
    "Hooks and settings of plugins and of an organisation are not looked at.",
    "A command that runs already is not stopped by an emergency control; Claude Code stops at its end.",
  ],
};

/** Throws `CliError` for an agent that there is no guard for. */
export function guardedHostNamed(name: string): GuardedHost {
  if (name === claudeCode.id) return claudeCode;
  throw new CliError(`There is no guard for ${JSON.stringify(name.slice(0, 100))}.`, {
    exitCode: exitCode.usage,
    next: [`Agents: ${claudeCode.id}.`],
  });
}

/** `gennai guard install HOST` */
export async function guardInstallCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  const host = guardedHostNamed(name);
  const file = await settingsFile(flags, console);
  const { problems } = await surroundings(flags, console);
  const isNew = await file.install(entryOf(host, console));
  console.output.write(`${isNew ? "Installed in" : "In place already:"} ${file.path}\n`);
  for (const problem of problems) console.output.write(`But ${problem}.\n`);
  console.output.write(`${host.title} asks Gennai about each call from its next session on.\n`);
  console.output.write("A server has to run, else nothing is changed: gennai serve\n");
  return exitCode.ok;
}

/** `gennai guard uninstall HOST` */
export async function guardUninstallCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  guardedHostNamed(name);
  const file = await settingsFile(flags, console);
  const wasThere = await file.uninstall();
  console.output.write(`${wasThere ? "Taken away from" : "Nothing of Gennai's is in"} ${file.path}\n`);
  return exitCode.ok;
}

/** `gennai guard status [HOST]` */
export async function guardStatusCommand(flags: GuardFlags, console: Console): Promise<ExitCode> {
  const places = await Promise.all([
    settingsFile({ ...flags, user: false }, console),
    settingsFile({ ...flags, user: true }, console),
  ]);
  const installed = places.flatMap((file) => (file.commands().size === 0 ? [] : [file.path]));
  const server = await runningServer(flags, console);
  const { problems, beside } = await surroundings(flags, console);
  const told = [...(limits[claudeCode.id] ?? []), ...beside];
  if (flags.json === true) {
    const status = { agent: claudeCode.id, installed, server: server ?? null, problems, limits: told };
    console.output.write(`${JSON.stringify(status, undefined, 2)}\n`);
    return exitCode.ok;
  }
  console.output.write(`${claudeCode.id}  ${installed.length === 0 ? "not guarded here" : "guarded"}\n`);
  for (const path of installed) console.output.write(`  hook    ${path}\n`);
  console.output.write(`  server  ${server ?? "none runs, so that nothing may be changed: gennai serve"}\n`);
  for (const problem of problems) console.output.write(`  problem ${problem}\n`);
  for (const limit of told) console.output.write(`  limit   ${limit}\n`);
  return exitCode.ok;
}

/** `gennai guard doctor HOST`: whether a call would really be judged. */
export async function guardDoctorCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  const host = guardedHostNamed(name);
  const workspace = await resolveWorkspace(flags.workspace, console);
  const wanted = entryOf(host, console);
  const findings: { readonly ok: boolean; readonly text: string }[] = [];
  const { problems, beside } = await surroundings(flags, console);
  const places = await Promise.all([
    settingsFile({ ...flags, user: false }, console),
    settingsFile({ ...flags, user: true }, console),
  ]);
  const found =
    places.find((file) => file.amiss(wanted).length === 0) ?? places.find((file) => file.commands().size > 0);
  if (found === undefined) {
    findings.push({ ok: false, text: `No hook is in place. gennai guard install ${host.id}` });
  } else {
    const commands = found.commands();
    const amiss = found.amiss(wanted);
    findings.push({ ok: true, text: `The hook is in place: ${found.path}` });
    if (amiss.length > 0) {
      const text = `It is missing, or not as it is installed, for ${amiss.join(", ")}. Install it again.`;
      findings.push({ ok: false, text });
    }
    // What stands in a file of the workspace is somebody's word: only our own is started.
    if ([...commands].some(([event, command]) => command !== wanted.commands[event])) {
      findings.push({ ok: false, text: "It starts another program than this one. Install it again." });
    }
    findings.push(await triedHook(host, wanted.commands["SessionEnd"] ?? "", workspace, console));
  }
  findings.push(...problems.map((problem) => ({ ok: false, text: `${problem}.` })));
  const server = await runningServer(flags, console);
  findings.push(
    server === undefined
      ? { ok: false, text: "No server runs, so that nothing may be changed. gennai serve" }
      : { ok: true, text: `A server runs: ${server}` },
  );
  for (const { ok, text: said } of findings) console.output.write(`${ok ? "ok  " : "fail"}  ${said}\n`);
  for (const limit of beside) console.output.write(`note  ${limit}\n`);
  return findings.every(({ ok }) => ok) ? exitCode.ok : exitCode.failed;
}

/** Starts the hook as the host does, with a read of nothing that a rule could mind, and with input that is none. */
async function triedHook(host: GuardedHost, command: string, workspace: string, console: Console) {
  const began = performance.now();
  const hook = spawn("/bin/sh", ["-c", command], {
    cwd: workspace,
    env: { ...console.environment, CLAUDE_PROJECT_DIR: workspace },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const code = new Promise<number | null>((resolve) => {
    hook.on("error", () => resolve(null));
    hook.on("close", resolve);
  });
  // A hook that never reads its input is told by its exit code.
  hook.stdin.on("error", () => undefined);
  hook.stdin.end('{"session_id":"doctor","hook_event_name":"Doctor"}');
  await text(hook.stdout);
  const ended = await code;
  const took = Math.round(performance.now() - began);
  return ended === 0
    ? { ok: true, text: `The hook answers ${host.title} in ${took} ms.` }
    : { ok: false, text: `The hook cannot be started (exit code ${ended}): ${command}` };
}

async function runningServer(flags: GuardFlags, console: Console): Promise<string | undefined> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  for await (const { url } of provenServers(stateDir, { workspace })) return url;
  for await (const { url } of provenServers(stateDir, {})) return url;
  return undefined;
}

/** What all the settings that the agent reads for this project say of hooks: what keeps ours from its work, and who is beside it. */
async function surroundings(flags: GuardFlags, console: Console) {
  const stateDir = defaultStateDir(console.environment);
  const local = await settingsFile({ ...flags, user: false }, console);
  const shared = new GuardedSettingsFile(join(dirname(local.path), "settings.json"), stateDir, "refuse");
  const files = [local, shared, await settingsFile({ ...flags, user: true }, console)];
  const said = files.map((file) => ({ path: file.path, ...file.surroundings() }));
  return {
    problems: said.flatMap(({ path, problems }) => problems.map((problem) => `${path}: ${problem}`)),
    beside: said.flatMap(({ path, foreign }) =>
      foreign.map(
        (hook) => `A hook of others may change a call after it was judged, or answer for you: ${hook} in ${path}`,
      ),
    ),
  };
}

async function settingsFile(flags: GuardFlags, console: Console): Promise<GuardedSettingsFile> {
  const { environment } = console;
  const stateDir = defaultStateDir(environment);
  if (flags.user === true) {
    const directory = environment["CLAUDE_CONFIG_DIR"] || join(environment["HOME"] || homedir(), ".claude");
    return new GuardedSettingsFile(join(directory, "settings.json"), stateDir, "follow");
  }
  const workspace = await resolveWorkspace(flags.workspace, console);
  // The one that is not shared: the program lies elsewhere on every machine.
  return new GuardedSettingsFile(join(workspace, ".claude", "settings.local.json"), stateDir, "refuse");
}

/**
 * Before a call every exit code but 2 is a hook that failed, and the host goes on; at another event 2 would keep it from coming to rest.
 * What settings may put into the environment, and would steer it, is said in the command itself.
 */
function entryOf(host: GuardedHost, { environment }: Console): HookEntry {
  const program = process.argv[1];
  if (program === undefined || !existsSync(program)) throw usageError("Where this program lies cannot be told.");
  const stateDir = defaultStateDir(environment);
  const perl = perls.find((path) => existsSync(path));
  const words = [
    "NODE_OPTIONS=",
    ...(perl === undefined ? [] : ["PERL5OPT=", "PERL5LIB="]),
    `GENNAI_STATE_DIR=${quoted(stateDir)}`,
    ...(perl === undefined ? [] : [quoted(perl), quoted(relayPath(stateDir))]),
    quoted(process.execPath),
    ...process.execArgv.map(quoted),
    quoted(program),
    `guard hook ${host.id}`,
  ];
  const commands = claudeCodeEvents.map((event): [string, string] => [
    event,
    `${words.join(" ")} || exit ${event === "PreToolUse" ? 2 : 1}`,
  ]);
  return { commands: Object.fromEntries(commands), timeout };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
