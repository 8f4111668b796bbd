import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import { hidesFailure } from "@gennai/governance/command/hides-failure";
import { splitInstall } from "@gennai/governance/installs/split-install";
import type { AllowedEndpoint, Connection } from "@gennai/governance/network/connection";
import { type Endpoint, endpointName, sameEndpoint } from "@gennai/governance/network/endpoint";
import { maxEndpoints, refusedEndpoints } from "@gennai/governance/network/refused-endpoints";
import type { RunProgram } from "@gennai/governance/network/run-program";
import { isWorthAsking } from "@gennai/governance/network/worth-asking";
import { verbOf } from "@gennai/governance/programs/known-programs";
import type {
  ConnectionJudgement,
  ExecutionContext,
  NetworkPermission,
  WantedConnections,
} from "@gennai/governance/tool";
import { isPublicRegistry, type RegistryLogins } from "@gennai/machine/keys/registries/registry-logins";
import type { AddedLogin } from "@gennai/machine/network/added-login";
import { programHere } from "@gennai/machine/staged-shell/run/program-here";
import type { StagedShellRun } from "@gennai/machine/staged-shell/run/run-staged";

export interface NetworkedRun {
  readonly staged: StagedShellRun;
  /** Connections of all its runs. */
  readonly connections: readonly Connection[];
  /** For the model, each in brackets. */
  readonly notes: readonly string[];
}

const noLogins: RegistryLogins = { logins: [], refused: /(?!)/ };

/** Maximum restarts: an allowed host may lead to the next one. */
const maxRuns = 6;

/**
 * Runs a command, and restarts it from its original state with what a user allowed it to reach; changes by earlier runs are
 * dropped. What lasting answers allow is allowed at once.
 *
 * @param start one run; nothing of it is kept yet
 * @param given what it may reach by the yes to the call itself
 * @param own user's logins that a yes may have made available for what it reads
 */
export async function runWithNetwork(
  { command, ...place }: { readonly command: CommandAnalysis } & Parameters<typeof programHere>[1],
  start: (allowed: readonly AllowedEndpoint[], logins: readonly AddedLogin[]) => Promise<StagedShellRun>,
  {
    given = [],
    own = noLogins,
  }: { readonly given?: readonly AllowedEndpoint[] | undefined; readonly own?: RegistryLogins | undefined },
  { network, onOutput, signal }: Pick<ExecutionContext, "network" | "onOutput" | "signal">,
): Promise<NetworkedRun> {
  const program = programHere(command, place);
  const connections: Connection[] = [];
  let allowed = given.length > 0 ? given : await standing(program, network);
  for (let runs = 1; ; runs += 1) {
    const staged = await start(allowed, addedTo(allowed, own));
    connections.push(...staged.connections);
    const refused = refusedEndpoints(staged.connections).filter((one) => !isRefusedBesideLogin(one, allowed));
    const ended = { staged, connections };
    const notes = notesOf(staged, { command, allowed });
    // A run with a login may reach only what was agreed to.
    if (given.length > 0 || runs === maxRuns) return { ...ended, notes };
    const { state, exitCode } = staged.run;
    const wanted =
      state !== "aborted" && isWorthAsking(command, refused, exitCode)
        ? refused.map((one) => withLogin(one, own))
        : wantingLogin(staged, command, allowed, own);
    if (wanted.length === 0) return { ...ended, notes };
    const judgement = await letThrough({ program, endpoints: wanted }, staged, network);
    if (judgement.type === "refused") {
      const { message, hint } = judgement.error;
      const why = [message, ...(hint === undefined ? [] : [hint])].join(" ");
      return { ...ended, notes: [...notes, `[no way to the network: ${why}]`] };
    }
    await staged.drop();
    signal.throwIfAborted();
    const more = judgement.allowed;
    allowed = [...allowed.filter((one) => !more.some((other) => sameEndpoint(one, other))), ...more];
    onOutput(`\n[it may reach ${named(more)} now, and runs again]\n`);
  }
}

/** A registry of the user's own needs a login from the start; a public one only if it asks for it. */
function withLogin(endpoint: AllowedEndpoint, { logins }: RegistryLogins): AllowedEndpoint {
  const found = logins.find((login) => sameEndpoint(login.endpoint, endpoint) && !isPublicRegistry(login));
  return found === undefined ? endpoint : { ...endpoint, login: found.login };
}

/** Endpoints reached without a login that asked for one the user has. */
function wantingLogin(
  { run, connections }: StagedShellRun,
  command: CommandAnalysis,
  allowed: readonly AllowedEndpoint[],
  { logins, refused }: RegistryLogins,
): readonly AllowedEndpoint[] {
  if ((run.exitCode === 0 && !hidesFailure(command)) || run.state === "aborted" || !refused.test(run.output)) return [];
  const reached = allowed.filter(
    (one) => one.login === undefined && connections.some((each) => each.state === "allowed" && sameEndpoint(each, one)),
  );
  return reached.flatMap(({ host, port, address }) => {
    const found = logins.find(({ endpoint }) => sameEndpoint(endpoint, { host, port }));
    return found === undefined ? [] : [{ host, port, ...(address && { address }), login: found.login }];
  });
}

function addedTo(allowed: readonly AllowedEndpoint[], { logins }: RegistryLogins): readonly AddedLogin[] {
  return logins.filter(({ endpoint, login }) =>
    allowed.some((one) => one.login === login && sameEndpoint(one, endpoint)),
  );
}

/** Endpoints that the login does not cover are refused where the login is used; another question would not help. */
function isRefusedBesideLogin({ address, ...endpoint }: AllowedEndpoint, allowed: readonly AllowedEndpoint[]): boolean {
  const known = allowed.find((one) => sameEndpoint(one, endpoint));
  return known?.login !== undefined && (address === undefined || known.address === address);
}

/** Every policy also judges lasting answers: a capability may have been removed, or an emergency control switched on. */
async function standing(program: RunProgram, network: NetworkPermission): Promise<readonly AllowedEndpoint[]> {
  const endpoints = await network.standing(program);
  if (endpoints.length === 0) return [];
  const judgement = await network.letThrough({ program, endpoints, stand: true });
  return judgement.type === "let-through" ? judgement.allowed : [];
}

async function letThrough(
  wanted: WantedConnections,
  staged: StagedShellRun,
  network: NetworkPermission,
): Promise<ConnectionJudgement> {
  try {
    return await network.letThrough(wanted);
  } catch (error) {
    await staged.drop();
    throw error;
  }
}

/** Notes for the model about the network. */
function notesOf(
  { run, connections, onlyLookedUp }: StagedShellRun,
  { command, allowed }: { readonly command: CommandAnalysis; readonly allowed: readonly AllowedEndpoint[] },
): readonly string[] {
  const { text } = command;
  const of = (state: Connection["state"]) => connections.filter((one) => one.state === state);
  const notes = of("allowed").map(({ sent, received, count, login, ...endpoint }) => {
    const times = `${count === 1 ? "" : ` ${count} times`}${login === undefined ? "" : `, with ${login}`}`;
    return `[reached ${endpointName(endpoint)}${times}: ${sent} bytes sent, ${received} received]`;
  });
  notes.push(...of("failed").map((one) => `[could not reach ${endpointName(one)}: ${one.reason ?? ""}]`));
  const rebuild = allowed.length > 0 && splitInstall(text) === undefined ? rebuildAfter(command) : undefined;
  if (rebuild !== undefined) {
    notes.push(`[scripts of packages did not run, because there was a network: run \`${rebuild}\` if they are needed]`);
  }
  if (allowed.length > 0 && run.exitCode !== 0 && /\/tmp\//.test(run.output)) {
    notes.push("[with a way out, a run has its own /tmp: of earlier files there it sees those that the command names]");
  }
  const refused = of("refused");
  const plainly = refused.filter((one) => !isRefusedBesideLogin(one, allowed));
  if (plainly.length > 0) notes.push(`[refused: ${named(plainly)}]`);
  for (const one of refused) {
    if (!plainly.includes(one)) notes.push(`[refused: ${endpointName(one)}. ${one.reason ?? ""}]`);
  }
  const unseen = onlyLookedUp.filter((name) => !allowed.some(({ host }) => host === name)).slice(0, maxEndpoints);
  if (unseen.length > 0) {
    notes.push(
      `[looked up and not reached: ${unseen.join(", ")}; on which port cannot be seen. A program that knows HTTP_PROXY, or a port written in the command as :PORT, can be asked about.]`,
    );
  }
  return notes;
}

/** What runs the scripts that an install in a command leaves out where it has a network. */
function rebuildAfter({ commands }: CommandAnalysis): string | undefined {
  for (const { name, words } of commands) {
    const { program, verb } = verbOf(name, words) ?? {};
    if (verb?.apart === "install" && program?.apart?.type === "install") return program.apart.rebuild;
  }
  return undefined;
}

function named(endpoints: readonly Endpoint[]): string {
  return endpoints.map(endpointName).join(", ");
}
