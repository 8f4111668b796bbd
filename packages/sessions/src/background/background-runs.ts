import type { WatchedNetwork } from "@gennai/egress/network/watched-network";
import type { AllowedEndpoint, Connection } from "@gennai/governance/connection";
import type { StandingCheck } from "@gennai/governance/gate/standing-check";
import { emergencyVerdict } from "@gennai/governance/limits/emergency-verdict";
import type { LiveRedactor } from "@gennai/governance/redaction";
import type { Analysis, ShownImage } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { settlesWithin } from "@gennai/machine/process/settles-within";
import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import {
  type BackgroundCommand,
  type BackgroundEnd,
  type BackgroundRun,
  type BackgroundSurroundings,
  backgroundUnavailable,
  type OnOutput,
  startInBackground,
} from "@gennai/shell/background/background-run";
import { openPort } from "@gennai/shell/background/open-port";
import type { Stages } from "@gennai/shell/stages/stages";
import { type BackgroundRunChange, type BackgroundRunFacts, byModel, howEnded } from "./background-run-facts.ts";
import { OutputRing } from "./output-ring.ts";
import { type NetworkContext, RunNetwork, SharedNetwork } from "./run-network.ts";
import { cannotOpen, type PortPair, RunPorts } from "./run-ports.ts";
import { ShownOutput } from "./shown-output.ts";
import { WantedBefore } from "./wanted-before.ts";

/** Maximum runs of one session at a time. */
const maxRunning = 8;
/** Milliseconds that a caller waits for a sandbox to be created, and to be cleaned up. */
const longestAround = 10_000;
/** Ended runs that can still be read. */
const maxEnded = 16;
/** Characters kept of each run's output: the largest result of an MCP server's task too. */
const keptOutput = 512 * 1024;

export interface BackgroundRunsOptions {
  readonly redactor: LiveRedactor;
  now(): number;
  readonly emergency: { current(): EmergencyState; readonly standingCheck: StandingCheck };
  /** How many runs the session ever started: ids continue after a restart. */
  startedBefore(): number;
  /** Adds it to the session's log and ledger. */
  record(change: BackgroundRunChange): Promise<void>;
  onUnexpectedError(error: unknown): void;
}

interface KnownRun {
  facts: BackgroundRunFacts;
  /** Of the call that started it. */
  readonly toolName: string;
  readonly analysis: Analysis;
  readonly output: OutputRing;
  /** Of its result; those that the model has not seen. */
  readonly images: ShownImage[];
  readonly run: BackgroundRun;
  /** undefined: it is no command of ours. */
  readonly network: RunNetwork | undefined;
  readonly ports: RunPorts;
  /** Connections so far; complete at the end. */
  connections: () => readonly Connection[];
  /** Who ended it. */
  stoppedBy: string | undefined;
  /** Resolves when it has ended and that is recorded. Never rejects. */
  finished: Promise<void>;
  /** Position up to which the model has read. */
  readTo: number;
  /** The model knows how it ended. */
  isToldOf: boolean;
}

/** A session's background runs, e.g. servers and watchers. They end with the session, and when all work is stopped. */
export class BackgroundRuns implements AsyncDisposable {
  readonly #options: BackgroundRunsOptions;
  readonly #runs = new Map<string, KnownRun>();
  #count = 0;
  #starting = 0;
  readonly #network = new SharedNetwork();
  readonly #wanted = new WantedBefore();
  #emergency: Disposable | undefined;
  #disposed = false;

  constructor(options: BackgroundRunsOptions) {
    this.#options = options;
  }

  /**
   * The session's network, in which its commands run and reach its servers; kept until the session closes. Throws `ToolFailure`
   * `background_unavailable`.
   */
  async openNetwork(place: NetworkContext): Promise<WatchedNetwork> {
    const shared = await this.#network.open(place);
    const running = [...this.#runs.values()].filter(({ facts }) => facts.state === "running");
    await Promise.all(running.map(async ({ network }) => network?.renewPorts()));
    return shared;
  }

  /** What earlier runs of the same command wanted to reach, for asking about it when it starts again. */
  wantedBefore(text: string): readonly AllowedEndpoint[] {
    return this.#wanted.of(text);
  }

  /** What a run reached or was refused so far. Throws `ToolFailure` `background_not_found`. */
  connections(id: string): readonly Connection[] {
    return this.#find(id).connections();
  }

  /** Whether one runs or is being started. */
  get isRunning(): boolean {
    return this.#starting > 0 || this.list().some(({ state }) => state === "running");
  }

  /** All runs in the order of their starts. */
  list(): readonly BackgroundRunFacts[] {
    return [...this.#runs.values()].map(({ facts, ports, run }) => {
      return { ...facts, ports: ports.list(), isPartial: run.isPartial };
    });
  }

  /**
   * Throws `ToolFailure` `background_unavailable`, `too_many_background_runs`.
   * @param analysis of the call that starts it
   * @param where.allowed what a user allowed this run to reach
   */
  async start(
    command: BackgroundCommand,
    analysis: Analysis,
    where: Omit<BackgroundSurroundings, "network" | "stages"> & {
      readonly stages: Stages;
      readonly allowed?: readonly AllowedEndpoint[];
    },
  ): Promise<BackgroundRunFacts> {
    return this.#begin(async () => {
      const shown = this.#shown();
      const network = await RunNetwork.open(command.text, { ...where, network: await this.openNetwork(where) });
      let run: BackgroundRun;
      try {
        const environment = { ...command.environment, ...network.environment };
        run = await startInBackground(
          { ...command, environment, resolver: network.resolver },
          { ...where, network: network.network },
          { onOutput: (text) => shown.push(text) },
        );
      } catch (error) {
        await network[Symbol.asyncDispose]();
        throw error;
      }
      return this.#keep(command.text, run, { toolName: "Bash", analysis, shown, images: [], network });
    });
  }

  /**
   * Takes on what goes on elsewhere, e.g. a task of an MCP server. Throws as `start`.
   * @param start is given where it says something
   */
  takeOn(
    text: string,
    call: Pick<KnownRun, "toolName" | "analysis">,
    start: (onOutput: OnOutput) => BackgroundRun,
  ): Promise<BackgroundRunFacts> {
    return this.#begin(() => {
      const shown = this.#shown();
      const images: ShownImage[] = [];
      const run = start((said, seen = []) => {
        images.push(...seen);
        shown.push(said);
      });
      return this.#keep(text, run, { ...call, shown, images, network: undefined });
    });
  }

  /**
   * Resolves when the run has ended, or after `waitMs` if it goes on. The time starts when the command itself runs, and the
   * cleanup after its end is awaited: on a busy machine, both take longer than most commands that fail at once.
   */
  async endsWithin(id: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const { run, finished } = this.#find(id);
    await settlesWithin(run.begun, longestAround, signal);
    let isOver = false;
    const over = run.over.then(() => void (isOver = true));
    await settlesWithin(over, waitMs, signal);
    if (isOver) await settlesWithin(finished, longestAround, signal);
  }

  /** Output of a run from a position on; waits if there is none yet. Throws `ToolFailure` `background_not_found`. */
  async read(
    id: string,
    place: number,
    options: {
      readonly most: number;
      readonly waitMs: number;
      readonly signal?: AbortSignal;
      readonly part?: "since" | "next";
    },
  ): Promise<{
    readonly text: string;
    readonly leftOut: number;
    readonly end: number;
    readonly run: BackgroundRunFacts;
  }> {
    const { output } = this.#find(id);
    if (this.#find(id).facts.state === "running" && output.end <= place) {
      await settlesWithin(output.more(place), options.waitMs, options.signal);
    }
    return { ...output[options.part ?? "since"](place, options.most), run: this.#facts(id) };
  }

  /** `read` for the model: continues where it last stopped reading. Of a result nothing is passed over. */
  async readOn(id: string, options: { readonly most: number; readonly waitMs: number; readonly signal: AbortSignal }) {
    const known = this.#find(id);
    const part = known.network === undefined ? "next" : "since";
    const read = await this.read(id, known.readTo, { ...options, part });
    known.readTo = read.end;
    if (read.run.state === "ended") known.isToldOf = true;
    return { ...read, more: known.output.end - read.end, images: known.images.splice(0) };
  }

  /** Stops a run; resolves when it has ended. Throws `ToolFailure` `background_not_found`. @param by e.g. `the model` */
  async stop(id: string, by: string): Promise<BackgroundRunFacts> {
    const known = this.#find(id);
    if (known.facts.state === "running") {
      known.stoppedBy ??= by;
      await known.run.stop();
    }
    await known.finished;
    return this.#facts(id);
  }

  /** Resolves when all have ended. */
  async stopAll(by: string): Promise<void> {
    await Promise.all(this.list().map(({ id }) => this.stop(id, by)));
  }

  /**
   * Opens a port of a run's network on this machine. Throws `ToolFailure` `background_not_found`, and system errors, e.g.
   * `EADDRINUSE`.
   *
   * @param local loopback port; 0: any free one
   */
  async openPort(id: string, port: number, local: number): Promise<PortPair> {
    const { ports, network: of, facts } = this.#find(id);
    if (facts.state === "ended" || of === undefined) throw cannotOpen(port);
    const { network } = of;
    const pair = await ports.open(port, () => openPort(network, port, local));
    try {
      await this.#options.record({ run: this.#facts(id), what: "port-opened" });
    } catch (error) {
      // If it cannot be recorded, it must not stay open.
      await ports.closeOne(pair);
      throw error;
    }
    return pair;
  }

  /** Ended runs that the model has not been told about; marks them as told. */
  takeEnded(): readonly BackgroundRunFacts[] {
    const ended = [...this.#runs.values()].filter(({ facts, isToldOf }) => facts.state === "ended" && !isToldOf);
    for (const known of ended) known.isToldOf = true;
    return ended.map(({ facts }) => facts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await this.stopAll("the end of the session");
    this.#network[Symbol.dispose]();
  }

  async #begin(start: () => Promise<BackgroundRunFacts>): Promise<BackgroundRunFacts> {
    if (this.#disposed) throw backgroundUnavailable(new Error("the session is closed."));
    const running = this.list().filter(({ state }) => state === "running").length;
    if (running + this.#starting >= maxRunning) {
      throw new ToolFailure("too_many_background_runs", `The session runs ${maxRunning} commands in the background.`, {
        hint: "Stop one with KillShell.",
      });
    }
    this.#starting += 1;
    try {
      return await start();
    } finally {
      this.#starting -= 1;
      this.#closeIfIdle();
    }
  }

  #shown(): ShownOutput {
    return new ShownOutput(new OutputRing(keptOutput), this.#options.redactor);
  }

  async #keep(
    text: string,
    run: BackgroundRun,
    {
      shown,
      network,
      ...call
    }: Pick<KnownRun, "toolName" | "analysis" | "images" | "network"> & { readonly shown: ShownOutput },
  ): Promise<BackgroundRunFacts> {
    if (this.#disposed) await run.stop();
    this.#count = Math.max(this.#count, this.#options.startedBefore()) + 1;
    const id = `b${this.#count}`;
    const facts: BackgroundRunFacts = {
      id,
      command: await this.#options.redactor.redact(text),
      state: "running",
      startedAt: this.#options.now(),
      ports: [],
      isPartial: run.isPartial,
    };
    const known: KnownRun = {
      ...call,
      facts,
      output: shown.ring,
      run,
      network,
      connections: () => network?.connections() ?? [],
      ports: new RunPorts(),
      stoppedBy: undefined,
      finished: Promise.resolve(),
      readTo: 0,
      isToldOf: false,
    };
    this.#runs.set(id, known);
    const recorded = this.#options.record({ run: facts, what: "started" });
    known.finished = Promise.all([run.ended, recorded])
      .then(async ([end]) => {
        await shown.end();
        await this.#finish(known, end, text);
      })
      .catch((error: unknown) => this.#options.onUnexpectedError(error));
    this.#emergency ??= this.#options.emergency.standingCheck.onChange(() => this.#look());
    this.#look();
    try {
      await recorded;
    } catch (error) {
      // If it cannot be recorded, it must not keep running.
      await run.stop();
      this.#runs.delete(id);
      throw error;
    }
    return this.#facts(id);
  }

  async #finish(known: KnownRun, end: BackgroundEnd, text: string): Promise<void> {
    const { facts, stoppedBy, ports, output, network } = known;
    const connections = network?.connections("run" in end ? end.run : undefined) ?? [];
    known.connections = () => connections;
    this.#wanted.note(text, connections);
    // The words may be another program's.
    const how =
      stoppedBy === undefined ? await this.#options.redactor.redact(howEnded(end)) : `stopped by ${stoppedBy}`;
    const exitCode = "run" in end && stoppedBy === undefined ? end.run.exitCode : undefined;
    known.facts = {
      ...facts,
      state: "ended",
      endedAt: this.#options.now(),
      end: how,
      ...(exitCode === undefined ? {} : { exitCode }),
    };
    if (stoppedBy === byModel) known.isToldOf = true;
    await ports.close();
    await network?.[Symbol.asyncDispose]();
    output.wake();
    this.#forgetOldest();
    this.#closeIfIdle();
    await this.#options.record({ run: known.facts, what: "ended", connections });
  }

  #forgetOldest(): void {
    const ended = [...this.#runs.values()].filter(({ facts }) => facts.state === "ended");
    for (const { facts } of ended.slice(0, Math.max(0, ended.length - maxEnded))) this.#runs.delete(facts.id);
  }

  /** Stops runs that the emergency controls would no longer allow to start. */
  #look(): void {
    const state = this.#options.emergency.current();
    for (const { facts, toolName, analysis } of this.#runs.values()) {
      if (facts.state !== "running") continue;
      if (emergencyVerdict(state, { toolName, analysis }).type === "allow") continue;
      this.stop(facts.id, "an emergency control").catch((error: unknown) => this.#options.onUnexpectedError(error));
    }
  }

  #closeIfIdle(): void {
    if (this.isRunning) return;
    this.#emergency?.[Symbol.dispose]();
    this.#emergency = undefined;
  }

  #facts(id: string): BackgroundRunFacts {
    return this.list().find((facts) => facts.id === id) ?? this.#find(id).facts;
  }

  #find(id: string): KnownRun {
    const known = this.#runs.get(id);
    if (known !== undefined) return known;
    const ids = [...this.#runs.keys()];
    throw new ToolFailure("background_not_found", `Nothing of this session has the id ${id.slice(0, 40)}.`, {
      hint: ids.length === 0 ? "Nothing was started in the background." : `There are: ${ids.join(", ")}.`,
    });
  }
}
