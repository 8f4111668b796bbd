import { hidesFailure } from "@gennai/governance/command/hides-failure";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import type { AllowedEndpoint } from "@gennai/governance/connection";
import type { Effect } from "@gennai/governance/effect";
import { endpointName, sameEndpoint } from "@gennai/governance/endpoint";
import { refusedEndpoints } from "@gennai/governance/network/refused-endpoints";
import { runProgram } from "@gennai/governance/network/run-program";
import type { Analysis, ExecutionContext, ToolOutcome } from "@gennai/governance/tool";
import type { StagedSurroundings } from "@gennai/shell/run/run-staged";
import type { BackgroundRunFacts } from "../../background/background-run-facts.ts";
import type { BackgroundRuns } from "../../background/background-runs.ts";
import { withNotes } from "../command-output.ts";
import { refusedNotes, stateOf } from "./background-tools.ts";

/** Milliseconds for which a new command is watched: most failures happen at once. */
const firstLook = 400;
/** Maximum restarts: an allowed host may lead to the next one. */
const maxRuns = 4;

type Exec = Effect & { readonly type: "exec" };

/**
 * Starts a background command, and reports its id and its output so far. Hosts that earlier runs wanted to reach are asked
 * about first; if it fails at once because of a refused host, that host is asked about and the command restarts.
 */
export async function startBackground(
  effect: Exec,
  analysis: Analysis,
  surroundings: Omit<StagedSurroundings, "network" | "allowed">,
  { background, ...context }: { readonly background: BackgroundRuns } & Pick<ExecutionContext, "network" | "signal">,
): Promise<ToolOutcome> {
  const { environment, limits = {}, ...where } = surroundings;
  const { text } = effect.command;
  const command = { text, cwd: effect.cwd.absolute, environment, limits };
  const notes: string[] = [];
  let allowed: readonly AllowedEndpoint[] = [];
  let wanted = background.wantedBefore(text);
  for (let runs = 1; ; runs += 1) {
    if (wanted.length > 0) {
      const answer = await letThrough(effect, wanted, where.workspaceRoot, context);
      if ("refusal" in answer) notes.push(answer.refusal);
      else allowed = [...allowed.filter((one) => !wanted.some((more) => sameEndpoint(one, more))), ...answer.allowed];
    }
    context.signal.throwIfAborted();
    const reaching = { ...analysis, effects: [...analysis.effects, ...allowed.map(reachedBy(effect))] };
    const { id, isPartial } = await background.start(command, reaching, { ...where, allowed });
    await background.endsWithin(id, firstLook, context.signal);
    const { text: printed, run } = await background.readOn(id, { most: 10_000, waitMs: 0, signal: context.signal });
    const connections = background.connections(id);
    await context.network.reached(connections);
    const refused = refusedEndpoints(connections);
    const isNew = refused.some(
      (one) => !wanted.some((known) => sameEndpoint(known, one) && known.address === one.address),
    );
    if (isNew && runs < maxRuns && notes.length === 0 && isWorthAsking(run, refused, effect.command)) {
      if (run.state === "running") await background.stop(id, "the question about the network");
      wanted = refused;
      continue;
    }
    if (isPartial) {
      notes.unshift("[there are too many directories to follow: it may not see every later change of files]");
    }
    if (allowed.length > 0) notes.push(`[it may reach ${allowed.map(endpointName).join(", ")} until it ends]`);
    const how = `[${stateOf(run)}; BashOutput reads what it prints, KillShell ends it]`;
    return {
      output: withNotes(printed, [how, ...notes, ...refusedNotes(connections)]),
      ...(run.state === "running"
        ? {}
        : { failure: { failureClass: "command_error", message: `The command has ended: ${run.end}.` } }),
    };
  }
}

/** False if the run continues without the host, e.g. one that sends usage data, unless the command itself names the host. */
function isWorthAsking(
  run: BackgroundRunFacts,
  refused: readonly AllowedEndpoint[],
  command: CommandAnalysis,
): boolean {
  if (run.state === "ended") return run.exitCode !== 0 || hidesFailure(command);
  return refused.some(({ host }) => command.text.toLowerCase().includes(host));
}

async function letThrough(
  { command, cwd }: Exec,
  endpoints: readonly AllowedEndpoint[],
  workspaceRoot: string,
  { network }: Pick<ExecutionContext, "network">,
): Promise<{ readonly allowed: readonly AllowedEndpoint[] } | { readonly refusal: string }> {
  const program = runProgram(command, { cwd: cwd.absolute, workspaceRoot });
  const judgement = await network.letThrough({ program, endpoints, lasts: true });
  if (judgement.type === "let-through") return { allowed: judgement.allowed };
  const { message, hint } = judgement.error;
  return { refusal: `[no way to the network: ${[message, ...(hint === undefined ? [] : [hint])].join(" ")}]` };
}

/** For emergency controls, which stop what would no longer be allowed to start. */
function reachedBy({ command }: Exec): (endpoint: AllowedEndpoint) => Effect {
  return (endpoint) => ({
    type: "net",
    url: endpointName(endpoint),
    wanted: { ...endpoint, program: command.text },
  });
}
