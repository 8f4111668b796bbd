import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { guardRefusal } from "@gennai/governance/limits/laid-down";
import type { GuardedHost } from "@gennai/guard/hosts/guarded-host";
import { startProcess } from "@gennai/machine/process/start-process";
import { provenServers } from "../../connection/proven-servers.ts";
import { CliError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { type Said, said } from "../command-host.ts";
import { limitsHere } from "../limits-here.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";
import { agentProgram, agentVersion } from "./agent-program.ts";
import { guardedAgents, hookFormat, lineBefore } from "./guarded-agents.ts";
import { GuardedFile } from "./guarded-file.ts";
import { type HookProgram, hookProgram, managedProgram } from "./hook-program.ts";
import { installManaged, isManagedAsWritten, managedHook, uninstallManaged } from "./managed-hooks.ts";

export interface GuardFlags extends WorkspaceFlags {
  readonly user?: boolean;
  /** By root, for all users of this machine. */
  readonly managed?: boolean;
}

/** Where agents are guarded. */
interface GuardPlace {
  /** Real path. */
  readonly root: string;
  readonly stateDir: string;
  readonly environment: Console["environment"];
  /** In the user's own settings, in place of the project's. */
  readonly user: boolean;
}

async function guardPlace(flags: GuardFlags, console: Console): Promise<GuardPlace> {
  const { workspaceRoot: root, stateDir } = await placeHere(flags, console);
  return { root, stateDir, environment: console.environment, user: flags.user === true };
}

/** `gennai guard install HOST | all`; `all` means the agents that are on this machine. */
export async function guardInstallCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  if (flags.managed === true) return installManaged(name, console);
  const place = await guardPlace(flags, console);
  const { here, elsewhere } = name === "all" ? agentsHere(place) : { here: guardedAgents(name), elsewhere: [] };
  if (here.length === 0) {
    throw new CliError("No agent was found here, neither its program nor its directory.", {
      next: [`Name one to install its guard anyway: gennai guard install ${elsewhere[0]?.id ?? ""}`],
    });
  }
  let code: ExitCode = exitCode.ok;
  for (const agent of here) {
    const file = guardedFile(agent, place);
    const { problems, unknown } = await surroundings(agent, place);
    const isNew = await file.install();
    console.output.write(`${isNew ? "Installed in" : "In place already:"} ${file.path}\n`);
    for (const problem of problems) console.output.write(`But ${problem}.\n`);
    const tried = await triedHook(agent, place, programOf(agent, place));
    if (tried.state === "fail") {
      console.output.write(`${tried.text}\n`);
      code = exitCode.failed;
    } else if (unknown === undefined) {
      console.output.write(`${agent.title} asks Gennai about each call from its next session on.\n`);
    }
    const nextStep = place.user ? agent.hook.nextStepOfUser : agent.hook.nextStep;
    if (nextStep !== undefined) console.output.write(`${nextStep}\n`);
  }
  if (elsewhere.length > 0) {
    const [first] = elsewhere;
    const names = elsewhere.map(({ id }) => id).join(", ");
    console.output.write(
      `Left out, because neither program nor directory was found: ${names}. To install one anyway: gennai guard install ${first?.id ?? ""}\n`,
    );
  }
  console.output.write("As long as no server runs, it may change nothing. Start one: gennai serve\n");
  return code;
}

/** `gennai guard uninstall HOST | all` */
export async function guardUninstallCommand(name: string, flags: GuardFlags, console: Console): Promise<ExitCode> {
  if (flags.managed === true) return uninstallManaged(name, console);
  const place = await guardPlace(flags, console);
  for (const agent of guardedAgents(name)) {
    const file = guardedFile(agent, place);
    if (file.isInstalled) {
      await actRecorder(place.root, console)({ guard_uninstalled: agent.title, file: file.path });
    }
    const wasThere = await file.uninstall();
    console.output.write(`${wasThere ? "Taken away from" : "There is nothing of Gennai in"} ${file.path}\n`);
  }
  return exitCode.ok;
}

/** `gennai guard status`: 1 if an agent that a policy wants guarded is here and is not. */
export async function guardStatusCommand(name: string | undefined, flags: GuardFlags, console: Console): Promise<Said> {
  const place = await guardPlace(flags, console);
  const server = await runningServer(place);
  const all = await Promise.all(guardedAgents(name ?? "all").map((agent) => statusOf(agent, place)));
  const limits = await limitsHere(console);
  const here = agentsHere(place).here.map(({ id }) => id);
  const missing = all.filter(
    ({ agent, installed, unguarded }) => here.includes(agent) && (installed.length === 0 || unguarded),
  );
  const refused = missing.flatMap(({ agent }) => guardRefusal(limits, agent) ?? []);
  const code = refused.length === 0 ? exitCode.ok : exitCode.failed;
  const lines = [
    `server  ${server ?? "none runs, so guarded agents may change nothing. Start one: gennai serve"}`,
    ...all.flatMap(({ agent, version, unguarded, installed, problems, limits: bounds }) => {
      const state = installed.length === 0 ? "not guarded here" : unguarded ? "unguarded" : "guarded";
      return [
        `${agent}  ${state}${version === null ? "" : `, version ${version}`}`,
        ...installed.map((path) => `  hook    ${path}`),
        ...problems.map((problem) => `  problem ${problem}`),
        ...bounds.map((limit) => `  limit   ${limit}`),
      ];
    }),
    ...refused.map((text) => `policy  ${text}`),
  ];
  return said({ server: server ?? null, agents: all, refused }, `${lines.join("\n")}\n`, code);
}

async function statusOf(agent: GuardedHost, place: GuardPlace) {
  const places = bothPlaces(agent, place);
  const { problems, beside, version, unknown } = await surroundings(agent, place);
  const managed = managedHook(agent);
  const installed = [...places.flatMap((file) => (file.isInstalled ? [file.path] : [])), managed ?? []].flat();
  const { limits, limitsUnmanaged = [] } = agent.hook;
  const ofHook = [...limits, ...(managed === undefined ? limitsUnmanaged : [])];
  return {
    agent: agent.id,
    version: version ?? null,
    unguarded: unknown !== undefined,
    installed,
    problems,
    limits: [...(installed.length === 0 ? [] : ofHook), ...beside],
  };
}

/** `gennai guard doctor HOST | all`: whether a call would really be judged. */
export async function guardDoctorCommand(name: string, flags: GuardFlags, console: Console): Promise<Said> {
  const place = await guardPlace(flags, console);
  const found: Finding[] = [];
  for (const agent of name === "all" ? agentsOfInterest(place) : guardedAgents(name))
    found.push(...(await examined(agent, place)));
  const server = await runningServer(place);
  found.push(
    server === undefined
      ? { state: "fail", text: "No server runs, so the agent may change nothing. Start one: gennai serve" }
      : { state: "ok", text: `A server runs: ${server}` },
  );
  const told = found.map((each) => `${each.state.padEnd(4)}  ${each.text}\n`).join("");
  return { text: told, code: found.some(({ state }) => state === "fail") ? exitCode.failed : exitCode.ok };
}

/** The agents whose program is on the search path or whose directory exists; and the others. */
function agentsHere({ root, environment }: GuardPlace) {
  const isHere = (agent: GuardedHost): boolean =>
    existsSync(agent.hook.home(environment)) || agentProgram(agent.hook.program, environment, root) !== undefined;
  const all = guardedAgents("all");
  return { here: all.filter(isHere), elsewhere: all.filter((agent) => !isHere(agent)) };
}

/** The agents that are on this machine, and those that are guarded although they are not on it. */
function agentsOfInterest(place: GuardPlace): readonly GuardedHost[] {
  const { here, elsewhere } = agentsHere(place);
  return [...here, ...elsewhere.filter((agent) => bothPlaces(agent, place).some(({ isInstalled }) => isInstalled))];
}

interface Finding {
  readonly state: "ok" | "fail" | "note";
  readonly text: string;
}

async function examined(agent: GuardedHost, place: GuardPlace): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const { problems, beside } = await surroundings(agent, place);
  const [local, user] = bothPlaces(agent, place);
  const found = [local, user].find(({ amiss }) => amiss.length === 0) ?? [local, user].find((file) => file.isInstalled);
  const managed = managedHook(agent);
  if (managed !== undefined) {
    findings.push({ state: "ok", text: `The hook is in place for all users: ${managed}` });
    if (!isManagedAsWritten(agent)) {
      const text = `It differs from what install writes. Install it again: gennai guard install ${agent.id} --managed`;
      findings.push({ state: "fail", text });
    }
    const tried = await triedHook(agent, place, managedProgram(agent.id));
    // The shell also refuses where this user cannot start the program.
    const isAnswer = tried.state === "fail" || tried.exitCode === 0;
    findings.push(
      isAnswer
        ? tried
        : { state: "fail", text: `It gave no answer to a call that was tried (exit code ${tried.exitCode}).` },
    );
  } else if (found === undefined) {
    findings.push({ state: "fail", text: `No hook is in place. gennai guard install ${agent.id}` });
  }
  if (found !== undefined) {
    findings.push({ state: "ok", text: `The hook is in place: ${found.path}` });
    const { amiss } = found;
    if (amiss.length > 0) {
      const text = `For ${amiss.join(", ")} it is missing or differs from what install writes. Install it again.`;
      findings.push({ state: "fail", text });
    }
    // A file of the workspace may name any program, so only our own is started.
    if (found.startsAnother) {
      findings.push({ state: "fail", text: "It starts another program than this one. Install it again." });
    }
    findings.push(await triedHook(agent, place, programOf(agent, { ...place, user: found === user })));
    const nextStep = found === user ? agent.hook.nextStepOfUser : agent.hook.nextStep;
    if (nextStep !== undefined) findings.push({ state: "note", text: nextStep });
  }
  findings.push(...problems.map((problem): Finding => ({ state: "fail", text: `${problem}.` })));
  findings.push(...beside.map((text): Finding => ({ state: "note", text })));
  return findings;
}

/** Starts the hook as the host does, with a call that must be refused, whether a server runs or not. */
async function triedHook(
  host: GuardedHost,
  { root: workspace, stateDir, environment }: GuardPlace,
  program: HookProgram,
): Promise<Finding & { readonly exitCode: number | null }> {
  const { form } = host.hook;
  const words = form.type === "settings" ? (["/bin/sh", "-c", lineBefore(form, program)] as const) : program.words;
  const began = performance.now();
  const hook = startProcess(words[0], words.slice(1), {
    cwd: workspace,
    env: { ...environment, CLAUDE_PROJECT_DIR: workspace, ...program.environment },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const code = new Promise<number | null>((resolve) => {
    hook.on("error", () => resolve(null));
    hook.on("close", resolve);
  });
  // The exit code shows a hook that never reads its input.
  hook.stdin.on("error", () => undefined);
  const unreachable = join(stateDir, "guard", "probe");
  hook.stdin.end(JSON.stringify(host.hook.probe(unreachable, workspace)));
  const answer = await text(hook.stdout);
  const ended = await code;
  const took = Math.round(performance.now() - began);
  const isRefused = ended === 2 || (ended === 0 && isRefusal(host, answer));
  return {
    exitCode: ended,
    ...(isRefused
      ? { state: "ok", text: `A call of ${host.title} was tried: the hook refused it in ${took} ms.` }
      : {
          state: "fail",
          text: `The hook did not refuse a call that it must (exit code ${ended}): ${words.join(" ")}`,
        }),
  };
}

/** Whether a hook said what its host takes as a refusal, or as the end of all work, for whatever reason. */
function isRefusal(host: GuardedHost, said: string): boolean {
  const fits = (wanted: unknown, given: unknown): boolean =>
    wanted === anyReason
      ? typeof given === "string" && given !== ""
      : typeof wanted === "object" && wanted !== null && typeof given === "object" && given !== null
        ? Object.entries(wanted).every(([key, inner]: [string, unknown]) => fits(inner, Reflect.get(given, key)))
        : wanted === given;
  try {
    const given: unknown = JSON.parse(said);
    return (["deny", "stop"] as const).some((type) =>
      fits(host.answer({ type, reason: anyReason, before: true }), given),
    );
  } catch {
    return false;
  }
}

const anyReason = "why";

/** A file in which our hook is installed for an agent, and the command that removes it; undefined: there is none. */
export async function installedHook(id: string, flags: GuardFlags, console: Console) {
  const agent = guardedAgents("all").find((one) => one.id === id);
  if (agent === undefined) return undefined;
  const [local, user] = bothPlaces(agent, await guardPlace(flags, console));
  const remove = `gennai guard uninstall ${id}`;
  if (local.isInstalled) return { path: local.path, remove };
  if (user.isInstalled) return { path: user.path, remove: `${remove} --user` };
  const managed = managedHook(agent);
  return managed === undefined ? undefined : { path: managed, remove: `sudo ${remove} --managed` };
}

async function runningServer({ root: workspace, stateDir }: GuardPlace): Promise<string | undefined> {
  for await (const { url } of provenServers(stateDir, { workspace })) return url;
  for await (const { url } of provenServers(stateDir, {})) return url;
  return undefined;
}

/** All hook settings that the agent reads for this project: what prevents ours from working, and which other hooks there are. */
async function surroundings(agent: GuardedHost, place: GuardPlace) {
  const { root, stateDir, environment } = place;
  const [, ...shared] = agent.hook.projectFiles(root);
  const format = hookFormat(agent, programOf(agent, place));
  const [local, user] = bothPlaces(agent, place);
  const files = [local, ...shared.map((path) => new GuardedFile(path, { stateDir, root, format })), user];
  // Neither settings nor switches leave out a hook for all users, and beside it no others run.
  const isForAll = managedHook(agent) !== undefined;
  const told = files.map((file) => {
    const { off, problems, foreign } = file.surroundings();
    return isForAll
      ? { path: file.path, problems, foreign: [] }
      : { path: file.path, problems: [...off, ...problems], foreign };
  });
  const switches = isForAll ? [] : (agent.hook.switches?.filter((name) => (environment[name] ?? "") !== "") ?? []);
  const program = agentProgram(agent.hook.program, environment, root);
  const version = program === undefined ? undefined : await agentVersion(program, environment);
  const unknown = program === undefined ? undefined : unknownVersion(agent, version);
  return {
    version,
    unknown,
    problems: [
      ...(unknown === undefined ? [] : [unknown]),
      ...switches.map((name) => `${name} is set, with which ${agent.title} starts no hook`),
      ...told.flatMap(({ path, problems }) => problems.map((problem) => `${path}: ${problem}`)),
    ],
    beside: told.flatMap(({ path, foreign }) =>
      foreign.map(
        (hook) => `A hook of others may change a call after it was judged, or answer for you: ${hook} in ${path}`,
      ),
    ),
  };
}

/** Why its version counts as unguarded; undefined: the hook was tried with it. */
function unknownVersion(
  { title, hook: { majors, since = "0" } }: GuardedHost,
  version: string | undefined,
): string | undefined {
  if (version === undefined) return `${title} does not tell its version, so it counts as unguarded`;
  if (version.localeCompare(since, undefined, { numeric: true }) < 0)
    return `${title} ${version} counts as unguarded: the hook needs version ${since}`;
  if (majors.includes(Number.parseInt(version, 10))) return undefined;
  return `${title} ${version} counts as unguarded: the hook was tried with version ${majors.join(" and ")}`;
}

/** The agent's hook file in the project, and the one of its user. */
function bothPlaces(agent: GuardedHost, place: GuardPlace) {
  return [guardedFile(agent, { ...place, user: false }), guardedFile(agent, { ...place, user: true })] as const;
}

function guardedFile(agent: GuardedHost, place: GuardPlace): GuardedFile {
  const { root, stateDir, environment, user } = place;
  const format = hookFormat(agent, programOf(agent, place));
  if (user) return new GuardedFile(join(agent.hook.home(environment), agent.hook.userFile), { stateDir, format });
  const [path] = agent.hook.projectFiles(root);
  return new GuardedFile(path, { stateDir, root, format });
}

function programOf(agent: GuardedHost, { root, stateDir, user }: GuardPlace): HookProgram {
  return hookProgram(agent.id, stateDir, user || agent.hook.saysProject === true ? undefined : root);
}
