import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import { splitInstall } from "@gennai/governance/installs/split-install";
import type { AllowedEndpoint, Connection } from "@gennai/governance/network/connection";
import { type Endpoint, endpointName, sameEndpoint } from "@gennai/governance/network/endpoint";
import { maxEndpoints, refusedEndpoints } from "@gennai/governance/network/refused-endpoints";
import { type RunProgram, runProgram } from "@gennai/governance/network/run-program";
import type {
  ConnectionJudgement,
  ExecutionContext,
  NetworkPermission,
  WantedConnections,
} from "@gennai/governance/tool";
import { isPublicRegistry, type RegistryLogins } from "@gennai/machine/keys/registries/registry-logins";
import type { AddedLogin } from "@gennai/machine/network/added-login";
import type { StagedShellRun } from "@gennai/machine/staged-shell/run/run-staged";

export interface NetworkedRun {
  readonly staged: StagedShellRun;
  /** Of all its runs. */
  readonly connections: readonly Connection[];
  /** For the model, each in brackets. */
  readonly notes: readonly string[];
}

const noLogins: RegistryLogins = { logins: [], refused: /(?!)/ };

/** A host that leads to the next one, and that to another. */
const maxRuns = 6;

/**
 * Runs a command, and again with what a person let it reach, from where it began: what the earlier run did is dropped. What
 * answers that stand let its program reach is let through at once.
 *
 * @param start one run; nothing of it is kept yet
 * @param given what it may reach by the yes to the call itself
 * @param own logins of the user's that a yes may have added to what it reads
 */
export async function runWithNetwork(
  { command, ...place }: { readonly command: CommandAnalysis; readonly cwd: string; readonly workspaceRoot: string },
  start: (allowed: readonly AllowedEndpoint[], logins: readonly AddedLogin[]) => Promise<StagedShellRun>,
  {
    given = [],
    own = noLogins,
  }: { readonly given?: readonly AllowedEndpoint[] | undefined; readonly own?: RegistryLogins | undefined },
  { network, onOutput, signal }: Pick<ExecutionContext, "network" | "onOutput" | "signal">,
): Promise<NetworkedRun> {
  const program = runProgram(command, place);
  const connections: Connection[] = [];
  let allowed = given.length > 0 ? given : await standing(program, network);
  for (let runs = 1; ; runs += 1) {
    const staged = await start(allowed, addedTo(allowed, own));
    connections.push(...staged.connections);
    const refused = refusedEndpoints(staged.connections).filter((one) => !isRefusedBesideLogin(one, allowed));
    const ended = { staged, connections };
    const notes = notesOf(staged, { text: command.text, allowed });
    // What has a login goes nowhere but where that was agreed to.
    if (given.length > 0 || runs === maxRuns) return { ...ended, notes };
    const wanted = isWorthAsking(staged, refused, command)
      ? refused.map((one) => withLogin(one, own))
      : wantingLogin(staged, allowed, own);
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

/** Of a registry of the user's own, a login is wanted from the beginning; one that all the world reads has to say so. */
function withLogin(endpoint: AllowedEndpoint, { logins }: RegistryLogins): AllowedEndpoint {
  const found = logins.find((login) => sameEndpoint(login.endpoint, endpoint) && !isPublicRegistry(login));
  return found === undefined ? endpoint : { ...endpoint, login: found.login };
}

/** What was reached without a login that the user has, and said so. */
function wantingLogin(
  { run, connections }: StagedShellRun,
  allowed: readonly AllowedEndpoint[],
  { logins, refused }: RegistryLogins,
): readonly AllowedEndpoint[] {
  if (run.exitCode === 0 || run.state === "aborted" || !refused.test(run.output)) return [];
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

/** What a login is not for is refused where the login is used; another question would not change that. */
function isRefusedBesideLogin({ address, ...endpoint }: AllowedEndpoint, allowed: readonly AllowedEndpoint[]): boolean {
  const known = allowed.find((one) => sameEndpoint(one, endpoint));
  return known?.login !== undefined && (address === undefined || known.address === address);
}

/** Every policy is asked also about what stands: a capability may be gone, or an emergency control on. */
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

/**
 * A program that ended well without it, like one that looks for a newer version of itself, needs no question; unless the command
 * itself names the host, as one whose output goes into a pipe does.
 */
function isWorthAsking(
  { run }: StagedShellRun,
  refused: readonly AllowedEndpoint[],
  { text }: CommandAnalysis,
): boolean {
  if (refused.length === 0 || run.state === "aborted") return false;
  return run.exitCode !== 0 || refused.some(({ host }) => text.toLowerCase().includes(host));
}

/** What the model has to know of it. */
function notesOf(
  { connections, onlyLookedUp }: StagedShellRun,
  { text, allowed }: { readonly text: string; readonly allowed: readonly AllowedEndpoint[] },
): readonly string[] {
  const of = (state: Connection["state"]) => connections.filter((one) => one.state === state);
  const notes = of("allowed").map(({ sent, received, count, login, ...endpoint }) => {
    const times = `${count === 1 ? "" : ` ${count} times`}${login === undefined ? "" : `, with ${login}`}`;
    return `[reached ${endpointName(endpoint)}${times}: ${sent} bytes sent, ${received} received]`;
  });
  notes.push(...of("failed").map((one) => `[could not reach ${endpointName(one)}: ${one.reason ?? ""}]`));
  if (
    allowed.length > 0 &&
    splitInstall(text) === undefined &&
    /\b(?:npm|pnpm|yarn) (?:install|i|ci|add|update)\b/.test(text)
  ) {
    notes.push("[scripts of packages did not run, because there was a network: run `npm rebuild` if they are needed]");
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

function named(endpoints: readonly Endpoint[]): string {
  return endpoints.map(endpointName).join(", ");
}
