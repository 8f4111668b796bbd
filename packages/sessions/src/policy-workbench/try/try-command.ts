import type { Decided } from "@gennai/governance/gate/admitted-call";
import type { DecideOptions } from "@gennai/governance/gate/decide/decide-call";
import type { AllowedEndpoint, Connection } from "@gennai/governance/network/connection";
import type { CallContext } from "@gennai/governance/tool";
import type { ProgramHome } from "@gennai/machine/stage/staged-command";
import { runStaged, type StagedShellRun, type StagedSurroundings } from "@gennai/machine/staged-shell/run/run-staged";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";
import { runWithNetwork } from "../../tools/commands/run-with-network.ts";
import { type Offer, offerStaged } from "./offer-staged.ts";
import { type PersonsNetwork, personsNetwork } from "./persons-network.ts";
import { asServiceError } from "./staged-failure.ts";

/** A command that really ran, on a stage. What it did is not true yet. */
export interface Trial extends Offer {
  readonly state: string;
  /** undefined when a signal ended it. */
  readonly exitCode: number | undefined;
  /** Of the command: at most 1 MiB, half from the beginning and half from the end. */
  readonly output: string;
  /** Bytes that are not in it. */
  readonly leftOut: number;
  /** What of the network it reached, or wanted to reach. */
  readonly connections: readonly Connection[];
  /** What there is to know of that, each in brackets. */
  readonly notes: readonly string[];
}

/** Another agent that is tried as a whole. */
export interface TriedAgent {
  readonly id: string;
  /** Its own files that it finds in the run. */
  readonly home: ProgramHome;
  /** Of its logins, what a person uncovered for it, in words. */
  readonly logins: readonly string[];
}

export interface TrialOptions {
  /** The command starts this one, and is recorded as its. */
  readonly agent?: TriedAgent;
  readonly timeoutMs?: number;
  /** Aborted, it ends the command, and rejects with the signal's reason; nothing is kept then. */
  readonly signal?: AbortSignal;
  /** What the command prints, as it comes. */
  readonly onOutput?: (text: string) => void;
  /** What it may reach; only what answers that stand let it reach by default. */
  readonly network?: PersonsNetwork;
  /** Which of its changes shall be dropped, by id; undefined: all of them. Without it, all are. */
  readonly choose?: (trial: Trial) => Promise<ReadonlySet<string> | undefined>;
}

const defaultTimeoutMs = 120_000;
/** Bytes of output that anyone who watches sees: as many as the command may print. */
const shownBytes = 64 * 1024 * 1024;

/**
 * Runs a command on a copy, and offers what it did. Rejects with `ServiceError` `failed_precondition` where it
 * could not run, or what it did could not be told, and as `offerStaged` does; nothing is kept then.
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
  });
  // Where there is none, the command has a network in which nobody watches, and which leads nowhere either.
  using watched = await stages.openNetwork(workspaceRoot).catch(() => undefined);
  // Also of runs before one that fails, or is stopped.
  const connections: Connection[] = [];
  const recordReached = async (): Promise<void> => {
    if (!isRecorded) return;
    await recorded(ledger, (to) => to.record("outcome", { ...by, title: command.text }, { connections }));
  };
  const start = async (allowed: readonly AllowedEndpoint[]): Promise<StagedShellRun> => {
    const staged = await runStaged(request, { ...surroundings, network: watched, allowed }, { signal, onOutput });
    connections.push(...staged.connections);
    return staged;
  };
  const { staged, notes } = await runWithNetwork(
    { command, cwd: cwd.absolute, workspaceRoot },
    start,
    {},
    {
      network: permission,
      onOutput,
      signal,
    },
  ).catch(async (error: unknown) => {
    await recordReached();
    return asServiceError(error);
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
    choose: async (made) => choose?.(asTrial(made)),
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
