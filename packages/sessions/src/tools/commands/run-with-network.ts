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
import type { StagedShellRun } from "@gennai/machine/staged-shell/run-staged";

export interface NetworkedRun {
  readonly staged: StagedShellRun;
  /** Of all its runs. */
  readonly connections: readonly Connection[];
  /** For the model, each in brackets. */
  readonly notes: readonly string[];
}

/** A host that leads to the next one, and that to another. */
const maxRuns = 6;

/**
 * Runs a command, and again with what a person let it reach, from where it began: what the earlier run did is dropped. What
 * answers that stand let its program reach is let through at once.
 *
 * @param start one run; nothing of it is true yet
 * @param given what it may reach by the yes to the call itself
 */
export async function runWithNetwork(
  { command, ...place }: { readonly command: CommandAnalysis; readonly cwd: string; readonly workspaceRoot: string },
  start: (allowed: readonly AllowedEndpoint[]) => Promise<StagedShellRun>,
  given: readonly AllowedEndpoint[],
  { network, onOutput, signal }: Pick<ExecutionContext, "network" | "onOutput" | "signal">,
): Promise<NetworkedRun> {
  const program = runProgram(command, place);
  const connections: Connection[] = [];
  let allowed = given.length > 0 ? given : await standing(program, network);
  for (let runs = 1; ; runs += 1) {
    const staged = await start(allowed);
    connections.push(...staged.connections);
    const refused = refusedEndpoints(staged.connections);
    const ended = { staged, connections };
    const notes = notesOf(staged, { text: command.text, allowed });
    // What has a login goes nowhere but where that was agreed to.
    if (given.length > 0 || runs === maxRuns || !isWorthAsking(staged, refused, command)) return { ...ended, notes };
    const judgement = await letThrough({ program, endpoints: refused }, staged, network);
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

/** Every policy is asked also about what stands: a capability may be gone, or an emergency control on. */
async function standing(program: RunProgram, network: NetworkPermission): Promise<readonly AllowedEndpoint[]> {
  const endpoints = await network.standing(program);
  if (endpoints.length === 0) return [];
  const judgement = await network.letThrough({ program, endpoints });
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
  const notes = of("allowed").map(({ sent, received, count, ...endpoint }) => {
    const times = count === 1 ? "" : ` ${count} times`;
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
  if (refused.length > 0) notes.push(`[refused: ${named(refused)}]`);
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
