import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { provenServers } from "../../connection/proven-servers.ts";
import { usageError } from "../../errors/cli-error.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import type { Console } from "../../terminal/console.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { type GuardedAgent, guardedAgents } from "./guarded-agents.ts";
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

/** `gennai guard install HOST | all` */
export async function guardInstallCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  for (const agent of guardedAgents(name)) {
    const { host, nextStep } = agent;
    const file = await settingsFile(agent, flags, console);
    const { problems } = await surroundings(agent, flags, console);
    const isNew = await file.install(await entryOf(agent, flags, console));
    console.output.write(`${isNew ? "Installed in" : "In place already:"} ${file.path}\n`);
    for (const problem of problems) console.output.write(`But ${problem}.\n`);
    console.output.write(`${host.title} asks Gennai about each call from its next session on.\n`);
    if (nextStep !== undefined) console.output.write(`${nextStep}\n`);
  }
  console.output.write("A server has to run, else nothing is changed: gennai serve\n");
  return exitCode.ok;
}

/** `gennai guard uninstall HOST | all` */
export async function guardUninstallCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  for (const agent of guardedAgents(name)) {
    const file = await settingsFile(agent, flags, console);
    const wasThere = await file.uninstall();
    console.output.write(`${wasThere ? "Taken away from" : "Nothing of Gennai's is in"} ${file.path}\n`);
  }
  return exitCode.ok;
}

/** `gennai guard status` */
export async function guardStatusCommand(flags: GuardFlags, console: Console): Promise<ExitCode> {
  const server = await runningServer(flags, console);
  const all = await Promise.all(guardedAgents("all").map(async (agent) => statusOf(agent, flags, console)));
  if (flags.json === true) {
    console.output.write(`${JSON.stringify({ server: server ?? null, agents: all }, undefined, 2)}\n`);
    return exitCode.ok;
  }
  console.output.write(`server  ${server ?? "none runs, so that nothing may be changed: gennai serve"}\n`);
  for (const { agent, installed, problems, limits } of all) {
    console.output.write(`${agent}  ${installed.length === 0 ? "not guarded here" : "guarded"}\n`);
    for (const path of installed) console.output.write(`  hook    ${path}\n`);
    for (const problem of problems) console.output.write(`  problem ${problem}\n`);
    for (const limit of limits) console.output.write(`  limit   ${limit}\n`);
  }
  return exitCode.ok;
}

async function statusOf(agent: GuardedAgent, flags: GuardFlags, console: Console) {
  const places = await bothPlaces(agent, flags, console);
  const { problems, beside } = await surroundings(agent, flags, console);
  return {
    agent: agent.host.id,
    installed: places.flatMap((file) => (file.commands().size === 0 ? [] : [file.path])),
    problems,
    limits: [...agent.limits, ...beside],
  };
}

/** `gennai guard doctor HOST | all`: whether a call would really be judged. */
export async function guardDoctorCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  const found: Finding[] = [];
  for (const agent of guardedAgents(name)) found.push(...(await examined(agent, flags, console)));
  const server = await runningServer(flags, console);
  found.push(
    server === undefined
      ? { state: "fail", text: "No server runs, so that nothing may be changed. gennai serve" }
      : { state: "ok", text: `A server runs: ${server}` },
  );
  for (const { state, text: said } of found) console.output.write(`${state.padEnd(4)}  ${said}\n`);
  return found.some(({ state }) => state === "fail") ? exitCode.failed : exitCode.ok;
}

interface Finding {
  readonly state: "ok" | "fail" | "note";
  readonly text: string;
}

async function examined(agent: GuardedAgent, flags: GuardFlags, console: Console): Promise<readonly Finding[]> {
  const { host, events, nextStep } = agent;
  const wanted = await entryOf(agent, flags, console);
  const findings: Finding[] = [];
  const { problems, beside } = await surroundings(agent, flags, console);
  const places = await bothPlaces(agent, flags, console);
  const found =
    places.find((file) => file.amiss(wanted).length === 0) ?? places.find((file) => file.commands().size > 0);
  if (found === undefined) {
    findings.push({ state: "fail", text: `No hook is in place. gennai guard install ${host.id}` });
  } else {
    const commands = found.commands();
    const amiss = found.amiss(wanted);
    findings.push({ state: "ok", text: `The hook is in place: ${found.path}` });
    if (amiss.length > 0) {
      const text = `It is missing, or not as it is installed, for ${amiss.join(", ")}. Install it again.`;
      findings.push({ state: "fail", text });
    }
    // What stands in a file of the workspace is somebody's word: only our own is started.
    if ([...commands].some(([event, command]) => command !== wanted.commands[event])) {
      findings.push({ state: "fail", text: "It starts another program than this one. Install it again." });
    }
    const workspace = await resolveWorkspace(flags.workspace, console);
    findings.push(await triedHook(agent, wanted.commands[events.at(-1) ?? ""] ?? "", workspace, console));
    if (nextStep !== undefined) findings.push({ state: "note", text: nextStep });
  }
  findings.push(...problems.map((problem): Finding => ({ state: "fail", text: `${problem}.` })));
  findings.push(...beside.map((text): Finding => ({ state: "note", text })));
  return findings;
}

/** Starts the hook as the host does, with a read of nothing that a rule could mind, and with input that is none. */
async function triedHook(
  { host }: GuardedAgent,
  command: string,
  workspace: string,
  console: Console,
): Promise<Finding> {
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
    ? { state: "ok", text: `The hook answers ${host.title} in ${took} ms.` }
    : { state: "fail", text: `The hook cannot be started (exit code ${ended}): ${command}` };
}

async function runningServer(flags: GuardFlags, console: Console): Promise<string | undefined> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  for await (const { url } of provenServers(stateDir, { workspace })) return url;
  for await (const { url } of provenServers(stateDir, {})) return url;
  return undefined;
}

/** What all the settings that the agent reads for this project say of hooks: what keeps ours from its work, and who is beside it. */
async function surroundings(agent: GuardedAgent, flags: GuardFlags, console: Console) {
  const stateDir = defaultStateDir(console.environment);
  const [, ...shared] = agent.projectFiles(await resolveWorkspace(flags.workspace, console));
  const [local, user] = await bothPlaces(agent, flags, console);
  const files = [local, ...shared.map((path) => new GuardedSettingsFile(path, stateDir, "refuse")), user];
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

/** The project's, and the user's. */
async function bothPlaces(agent: GuardedAgent, flags: GuardFlags, console: Console) {
  return [
    await settingsFile(agent, { ...flags, user: false }, console),
    await settingsFile(agent, { ...flags, user: true }, console),
  ] as const;
}

async function settingsFile(agent: GuardedAgent, flags: GuardFlags, console: Console): Promise<GuardedSettingsFile> {
  const { environment } = console;
  const stateDir = defaultStateDir(environment);
  if (flags.user === true) return new GuardedSettingsFile(agent.userFile(environment), stateDir, "follow");
  const [path] = agent.projectFiles(await resolveWorkspace(flags.workspace, console));
  return new GuardedSettingsFile(path, stateDir, "refuse");
}

/**
 * Before a call every exit code but 2 is a hook that failed, and the host goes on; at another event 2 would keep it from coming to rest.
 * What settings may put into the environment, and would steer it, is said in the command itself.
 */
async function entryOf({ host, events }: GuardedAgent, flags: GuardFlags, console: Console): Promise<HookEntry> {
  const { environment } = console;
  const program = process.argv[1];
  if (program === undefined || !existsSync(program)) throw usageError("Where this program lies cannot be told.");
  const stateDir = defaultStateDir(environment);
  // Claude Code says itself which one it is.
  const isTold = flags.user === true || host.id === "claude-code";
  const project = isTold ? undefined : await resolveWorkspace(flags.workspace, console);
  const perl = perls.find((path) => existsSync(path));
  const words = [
    "NODE_OPTIONS=",
    ...(perl === undefined ? [] : ["PERL5OPT=", "PERL5LIB="]),
    `GENNAI_STATE_DIR=${quoted(stateDir)}`,
    `GENNAI_GUARD_PROJECT=${project === undefined ? "" : quoted(project)}`,
    ...(perl === undefined ? [] : [quoted(perl), quoted(relayPath(stateDir))]),
    quoted(process.execPath),
    ...process.execArgv.map(quoted),
    quoted(program),
    `guard hook ${host.id}`,
  ];
  const commands = events.map((event): [string, string] => [
    event,
    `${words.join(" ")} || exit ${event === "PreToolUse" ? 2 : 1}`,
  ]);
  return { commands: Object.fromEntries(commands), timeout };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
