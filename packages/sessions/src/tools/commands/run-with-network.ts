import { type ExpectedChange, exactly, type OwnLogin } from "@gennai/egress/keys/login/own-login";
import { noLogins, type OwnLogins, wantsLogin } from "@gennai/egress/keys/own-logins";
import { type AskToSend, type HeldRequest, maxShown, pretended } from "@gennai/egress/network/added-login";
import { hidesFailure } from "@gennai/governance/command/hides-failure";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import { type AllowedEndpoint, type Connection, type RunProgram, usedLogin } from "@gennai/governance/connection";
import { type Endpoint, endpointName, sameEndpoint } from "@gennai/governance/endpoint";
import { maxEndpoints, refusedEndpoints } from "@gennai/governance/network/refused-endpoints";
import { splitInstall } from "@gennai/governance/network/split-install";
import { isWorthAsking } from "@gennai/governance/network/worth-asking";
import { verbOf } from "@gennai/governance/programs/known-programs";
import type {
  ConnectionJudgement,
  ExecutionContext,
  NetworkPermission,
  WantedConnections,
} from "@gennai/governance/tool";
import { OneByOne } from "@gennai/machine/one-by-one";
import { HeldClock } from "@gennai/machine/process/held-clock";
import { programHere } from "@gennai/shell/run/program-here";
import type { StagedShellRun, StagedSurroundings } from "@gennai/shell/run/run-staged";
import type { Stages } from "@gennai/shell/stages/stages";

export interface NetworkedRun<Run extends StagedShellRun = StagedShellRun> {
  readonly staged: Run;
  /** Connections of all its runs. */
  readonly connections: readonly Connection[];
  /** For the model, each in brackets. */
  readonly notes: readonly string[];
}

/** What one of the runs gets for the network. */
export type RunWays = Pick<StagedSurroundings, "allowed" | "logins" | "ask" | "placeholders" | "clock" | "onLogins">;

/** Maximum restarts: an allowed host may lead to the next one. */
const maxRuns = 6;
/** After so many noes nothing more of a command is sent: a script could ask again and again. */
const maxRefusals = 3;

/**
 * Runs a command, and restarts it from its original state with what a user allowed it to reach; changes by earlier runs are
 * dropped. What lasting answers allow is allowed at once.
 *
 * @param start one run; nothing of it is kept yet
 * @param given what it may reach by the yes to the call itself
 * @param own the user's logins that it may use by a yes
 */
export async function runWithNetwork<Run extends StagedShellRun>(
  {
    command,
    stages,
    ...place
  }: {
    readonly command: CommandAnalysis;
    readonly stages: Pick<Stages, "privateAddress">;
  } & Parameters<typeof programHere>[1],
  start: (ways: RunWays) => Promise<Run>,
  {
    given = [],
    own: { logins: own, inRun } = noLogins,
  }: { readonly given?: readonly AllowedEndpoint[] | undefined; readonly own?: OwnLogins | undefined },
  { network, onOutput, signal }: Pick<ExecutionContext, "network" | "onOutput" | "signal">,
): Promise<NetworkedRun<Run>> {
  const program = programHere(command, place);
  const connections: Connection[] = [];
  const clock = new HeldClock();
  const questions = new OneByOne<"question">();
  // By a yes to the host.
  const agreed = new Set<{ readonly endpoint: Endpoint; readonly change: ExpectedChange }>();
  /** What was refused, and why. */
  const refusals = new Map<string, string>();
  /** What was sent with a login. */
  const sent = new Set<string>();
  /** Why nothing of what a program was told to be done is sent. */
  let refusal: string | undefined;
  let allowed = given.length > 0 ? given : await standing(program, network);
  const described = async (one: AllowedEndpoint): Promise<AllowedEndpoint> => {
    const login = own.find((each) => each.login === one.login && sameEndpoint(each.endpoint, one));
    if (login === undefined) return one;
    const remark = one.sends === undefined ? undefined : await login.remark?.(one.sends, { signal });
    // The name is from the user's settings: that it is looked up tells nobody anything of the run.
    const address = one.address ?? (await stages.privateAddress(one));
    return { ...one, ...(address !== undefined && { address }), ...(remark !== undefined && { remark }) };
  };
  const ask: AskToSend = ({ endpoint, login, what, follows, signal: until }) =>
    questions.run("question", async () => {
      const wanting = `${what} at ${endpointName(endpoint)}`;
      if (refusal !== undefined) return refusal;
      const isAgreed =
        (follows !== undefined && sent.has(`${follows} at ${endpointName(endpoint)}`)) ||
        [...agreed].some((one) => sameEndpoint(one.endpoint, endpoint) && one.change.covers(what));
      if (!isAgreed) {
        const last = refusals.size < maxRefusals ? undefined : [...refusals.values()].at(-1);
        const before = refusals.get(wanting) ?? last;
        if (before !== undefined) return before;
        using _held = clock.hold();
        const { address } = allowed.find((one) => sameEndpoint(one, endpoint)) ?? {};
        const wanted = await described({ ...endpoint, ...(address && { address }), login, sends: what });
        const judgement = await network.letThrough({ program, endpoints: [wanted], until });
        if (judgement.type === "refused") {
          refusals.set(wanting, judgement.error.message);
          return judgement.error.message;
        }
      }
      sent.add(wanting);
      return undefined;
    });
  for (let runs = 1; ; runs += 1) {
    const used = own.filter(({ endpoint, login }) =>
      allowed.some((one) => one.login === login && sameEndpoint(one, endpoint)),
    );
    // A host that is reached without the login would take its placeholder for a wrong one.
    const reached = (one: OwnLogin): boolean => allowed.some((other) => sameEndpoint(one.endpoint, other));
    const placeholders = inRun(own.filter((one) => used.includes(one) || !reached(one)));
    const opened = await Promise.all(used.map((login) => login.open({ signal })));
    const rehearsals =
      given.length > 0 || refusal !== undefined
        ? []
        : own.flatMap((one) => (reached(one) ? [] : (one.rehearsals ?? [])));
    const logins = [...opened, ...rehearsals];
    // What is not sent, as nobody was asked; and of this, what its program was told to be done.
    const noted: HeldRequest[] = [];
    const told: HeldRequest[] = [];
    const runsAgain = given.length === 0 && refusal === undefined && runs < maxRuns;
    let hasAsked = false;
    const askOrNote: AskToSend = (held) => {
      const at = (one: { readonly endpoint: Endpoint }): boolean => sameEndpoint(one.endpoint, held.endpoint);
      // What a person may still say yes to is sent, and then the run stays.
      const pretends = held.pretends === true && runsAgain && !hasAsked && sent.size === 0 && ![...agreed].some(at);
      if (!pretends && told.length === 0 && !rehearsals.some(at)) {
        hasAsked = true;
        return ask(held);
      }
      noted.push(held);
      if (pretends) told.push(held);
      return Promise.resolve(pretends ? pretended : "Nobody was asked yet.");
    };
    const onLogins = (used: readonly Connection[]): Promise<void> => network.reached(used);
    const staged = await start({ allowed, logins, ask: askOrNote, placeholders, clock, onLogins });
    await network.reached(staged.connections.filter((one) => !usedLogin(one)));
    connections.push(...staged.connections);
    const refused = refusedEndpoints(staged.connections).filter((one) => !isRefusedBesideLogin(one, allowed));
    const ended = { staged, connections };
    const notes = notesOf(staged, { command, allowed });
    if (refusal !== undefined) return { ...ended, notes: [...notes, `[no way to the network: ${refusal}]`] };
    // A run with a login may reach only what was agreed to.
    if (given.length > 0 || runs === maxRuns) return { ...ended, notes };
    const { state, exitCode } = staged.run;
    for (const { endpoint, login } of told) {
      if (!refused.some((one) => sameEndpoint(one, endpoint))) refused.push({ ...endpoint, login });
    }
    const wanted =
      state !== "aborted" && (told.length > 0 || isWorthAsking(command, refused, exitCode))
        ? withLogins(refused, own, { allowed, noted, told })
        : wantingLogin(staged, command, allowed, own);
    if (wanted.length === 0) return { ...ended, notes };
    // It would be done twice.
    if (sent.size > 0) return { ...ended, notes: [...notes, onceSent] };
    const endpoints = await Promise.all(wanted.map(described));
    const judgement = await letThrough({ program, endpoints }, staged, network);
    if (judgement.type === "refused") {
      const { message, hint } = judgement.error;
      const why = [message, ...(hint === undefined ? [] : [hint])].join(" ");
      if (told.length === 0) return { ...ended, notes: [...notes, `[no way to the network: ${why}]`] };
      // It was told that what it sends was done.
      refusal = why;
    }
    await staged.drop();
    signal.throwIfAborted();
    const more = judgement.type === "refused" ? [] : judgement.allowed;
    for (const { sends, ...endpoint } of more) {
      if (sends === undefined && !told.some((one) => sameEndpoint(one.endpoint, endpoint))) continue;
      const { expects } = own.find((one) => one.login === endpoint.login && sameEndpoint(one.endpoint, endpoint)) ?? {};
      // Nothing but what the question showed.
      const shown = sends === undefined ? [] : changesOf(noted, endpoint);
      agreed.add({ endpoint, change: expects !== undefined && expects.what === sends ? expects : exactly(...shown) });
    }
    allowed = [...allowed.filter((one) => !more.some((other) => sameEndpoint(one, other))), ...more];
    if (refusal === undefined) onOutput(`\n[it may reach ${named(more)} now, and runs again]\n`);
  }
}

/** With the logins that are needed there, and at hosts where the command certainly goes as well. */
function withLogins(
  refused: readonly AllowedEndpoint[],
  own: readonly OwnLogin[],
  {
    allowed,
    noted,
    told,
  }: {
    readonly allowed: readonly AllowedEndpoint[];
    readonly noted: readonly HeldRequest[];
    readonly told: readonly HeldRequest[];
  },
): readonly AllowedEndpoint[] {
  const isTold = ({ login, endpoint }: OwnLogin): boolean =>
    told.some((one) => one.login === login && sameEndpoint(one.endpoint, endpoint));
  const needed = refused.map((endpoint) => ({
    endpoint,
    found: own.find((login) => sameEndpoint(login.endpoint, endpoint) && (login.isNeeded || isTold(login))),
  }));
  const more = own.filter(
    ({ endpoint, isCertain }) =>
      isCertain === true && ![...refused, ...allowed].some((one) => sameEndpoint(one, endpoint)),
  );
  if (needed.every(({ found }) => found === undefined)) return refused;
  const all = [...needed, ...more.map((found) => ({ endpoint: found.endpoint, found }))];
  const expects = (found: OwnLogin | undefined): string | undefined =>
    found && (found.expects?.what ?? (changesOf(noted, found.endpoint).join("; ") || undefined));
  return all.map(({ endpoint, found }) => ({
    ...endpoint,
    ...(found && { login: found.login }),
    ...(expects(found) !== undefined && { sends: expects(found) }),
  }));
}

/** What stands in the question about a host; of others, each is asked about as it comes. */
function changesOf(noted: readonly HeldRequest[], endpoint: Endpoint): readonly string[] {
  const there = noted.filter((one) => sameEndpoint(one.endpoint, endpoint) && one.follows === undefined);
  const all = [...new Set(there.map(({ what }) => what))];
  const isShown = all.length === 1 || there.every((one) => one.pretends === true);
  return isShown && all.join("; ").length <= maxShown ? all : [];
}

const onceSent =
  "[it was refused more, and does not run again for that, as something was sent: run what is left as a command of its own]";

/** Endpoints reached without a login that asked for one the user has. */
function wantingLogin(
  { run, connections }: StagedShellRun,
  command: CommandAnalysis,
  allowed: readonly AllowedEndpoint[],
  own: readonly OwnLogin[],
): readonly AllowedEndpoint[] {
  if ((run.exitCode === 0 && !hidesFailure(command)) || run.state === "aborted") return [];
  if (!wantsLogin.test(run.output)) return [];
  const reached = allowed.filter(
    (one) => one.login === undefined && connections.some((each) => each.state === "allowed" && sameEndpoint(each, one)),
  );
  return reached.flatMap(({ host, port, address }) => {
    const found = own.find(({ endpoint }) => sameEndpoint(endpoint, { host, port }));
    return found === undefined ? [] : [{ host, port, ...(address && { address }), login: found.login }];
  });
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
  return [...new Set(endpoints.map(endpointName))].join(", ");
}
