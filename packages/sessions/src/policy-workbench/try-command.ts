import type { Connection } from "@gennai/governance/connection";
import type { Decided, DecideOptions } from "@gennai/governance/gate/decide/decided-call";
import type { CallContext } from "@gennai/governance/tool";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { type ReviewableRun, runStaged, type StagedSurroundings } from "@gennai/shell/run/run-staged";
import type { ProgramHome } from "@gennai/stage/staged-command";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";
import { failedAct } from "../session/refuse-in-emergency.ts";
import { type RunWays, runWithNetwork } from "../tools/commands/run-with-network.ts";
import { type KeptOfOffer, type Offer, offerStaged } from "./offer-staged.ts";
import { type PersonsNetwork, personsNetwork } from "./persons-network.ts";

/** A command that ran on a stage. Its changes are not in the workspace yet. */
export interface Trial extends Offer {
  readonly state: string;
  /** Undefined if a signal ended it. */
  readonly exitCode: number | undefined;
  /** Output of the command: at most 1 MiB, half from the beginning and half from the end. */
  readonly output: string;
  /** Bytes left out of it. */
  readonly leftOut: number;
  /** What it reached on the network, or wanted to reach. */
  readonly connections: readonly Connection[];
  /** Notes about the network, each in brackets. */
  readonly notes: readonly string[];
}

/** Another agent, tried as a whole. */
export interface TriedAgent {
  readonly id: string;
  /** The agent's own files that are available in the run. */
  readonly home: ProgramHome;
  /** The agent's logins that a user made available, in words. */
  readonly logins: readonly string[];
}

export interface TrialOptions {
  /** The command starts this agent, and is recorded as its work. */
  readonly agent?: TriedAgent;
  readonly timeoutMs?: number;
  /** Aborting ends the command, and rejects with the signal's reason; nothing is kept then. */
  readonly signal?: AbortSignal;
  /** Output of the command, as it arrives. */
  readonly onOutput?: (text: string) => void;
  /** What it may reach; default: only what lasting answers allow. */
  readonly network?: PersonsNetwork;
  /** See `OfferOptions`; without it, all is dropped. */
  readonly choose?: (trial: Trial, proposed: () => readonly ProposedChange[]) => Promise<KeptOfOffer | undefined>;
}

const defaultTimeoutMs = 120_000;
/** Maximum bytes of output shown live: as much as a command may print. */
const shownBytes = 64 * 1024 * 1024;

/**
 * Runs a command on a copy, and offers its changes. Rejects with `ServiceError` `failed_precondition` if it could not run, or
 * its changes could not be determined, and like `offerStaged`; nothing is kept then.
 */
export async function tryCommand(
  decided: Decided,
  surroundings: StagedSurroundings,
  {
    context,
    trial: { timeoutMs = defaultTimeoutMs, onOutput = () => undefined, choose, network = {}, agent },
    ...options
  }: Omit<DecideOptions, "tools"> & {
    readonly context: CallContext;
    readonly trial: TrialOptions;
    readonly ledger: PersonsLedgerOptions;
  },
): Promise<Trial> {
  const exec = decided.analysis.effects.find((effect) => effect.type === "exec");
  if (exec === undefined) throw new Error("Only commands are tried.");
  const { command, cwd } = exec;
  const request = {
    command,
    cwd: cwd.absolute,
    timeoutMs,
    liveBytes: shownBytes,
    confirmed: false,
    program: agent?.home,
  };
  const by: { readonly by: string; readonly agent: string } | { readonly by: string } =
    agent === undefined ? { by: "try" } : { by: "guard run", agent: agent.id };
  const logins: { readonly logins: readonly string[] } | object =
    agent === undefined || agent.logins.length === 0 ? {} : { logins: agent.logins };
  const { signal } = context;
  const { stages, workspaceRoot } = surroundings;
  const ledger = { ...options.ledger, workspaceRoot: network.answersOf ?? workspaceRoot };
  let isRecorded = false;
  const permission = personsNetwork(network, {
    decided,
    context,
    options,
    workspaceRoot,
    stateDir: options.ledger.stateDir,
    toolVersion: options.ledger.toolVersion ?? "",
    onWarning: options.ledger.onWarning,
    record: async (reaches, answer) => {
      await recorded(ledger, (to) => to.record("review", { ...by, ...logins, title: command.text, reaches, answer }));
      isRecorded = true;
    },
    reached: (some) => connections.push(...some),
  });
  // Without it, the command has an unwatched network that leads nowhere.
  using watched = await stages.openNetwork(workspaceRoot).catch(() => undefined);
  // Includes earlier runs of a command that fails or is stopped later.
  const connections: Connection[] = [];
  const recordReached = async (): Promise<void> => {
    if (!isRecorded) return;
    await recorded(ledger, (to) => to.record("outcome", { ...by, title: command.text }, { connections }));
  };
  const start = ({ allowed }: RunWays): Promise<ReviewableRun> =>
    runStaged(request, { ...surroundings, network: watched, allowed }, { signal, onOutput });
  const { staged, notes } = await runWithNetwork(
    { ...surroundings, command, cwd: cwd.absolute },
    start,
    {},
    {
      network: permission,
      onOutput,
      signal,
    },
  ).catch(async (error: unknown) => {
    await recordReached();
    return failedAct(error);
  });
  try {
    await recordReached();
  } catch (error) {
    await staged.drop();
    throw error;
  }
  const { state, exitCode, output, leftOut } = staged.run;
  const asTrial = (offer: Offer): Trial =>
    Object.assign({ state, exitCode, output, leftOut, connections, notes }, offer);
  const offer = await offerStaged(staged, {
    ...options,
    decided,
    context,
    title: command.text,
    ...by,
    choose: async (made, proposed) => choose?.(asTrial(made), proposed),
  });
  return asTrial(offer);
}

async function recorded(
  options: PersonsLedgerOptions,
  record: (ledger: PersonsLedger) => Promise<void>,
): Promise<void> {
  await using ledger = await PersonsLedger.open(options);
  await record(ledger);
}
