import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import type { ReplicaWorld } from "../e2e/replicas/replica-world.ts";
import { endState, eventsOf, lastOfGapless, yesTo } from "../e2e/rpc/session-client.ts";

/** A turn: a read, a question whose yes leaves one line behind, and some text. */
export const loadScript = [
  {
    match: ".",
    steps: [
      { text: { repeat: 30, chunk: "word " } },
      { tool: { name: "Read", args: { file_path: "README.md" } } },
      { tool: { name: "Bash", args: { command: "echo ran >> ran.txt", description: "leaves a line" } } },
      { text: { repeat: 30, chunk: "word " } },
    ],
  },
];

export interface LoadOptions {
  readonly replicas: number;
  readonly sessions: number;
  readonly turns: number;
  /** Milliseconds between kills, of a replica and of a NATS node in turn; undefined: none. */
  readonly killEveryMs?: number;
  /** Each user waits up to so many milliseconds before each turn; 0: all begin at once, and queue. */
  readonly spreadMs: number;
}

export interface LoadReport {
  readonly sessions: number;
  readonly turns: number;
  readonly completed: number;
  /** Ended by another replica after theirs was killed, or by an error that the log reports. */
  readonly brokenOff: number;
  readonly unfinished: number;
  /** Commands of which a line was found, each after a question and its yes. */
  readonly commandsRun: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  /** Milliseconds from the start of a turn to its end, over completed turns. */
  readonly turnP50: number;
  readonly turnP95: number;
  readonly seconds: number;
  readonly replicaKills: number;
  readonly nodeKills: number;
  /** What must not be: gaps, effects that happened twice or against the log, ledgers that do not verify. */
  readonly faults: readonly string[];
}

const ended = new Set(["COMPLETED", "ERROR", "CANCELLED", "INTERRUPTED"]);
const giveUpMs = 120_000;

export async function runLoad(world: ReplicaWorld, options: LoadOptions): Promise<LoadReport> {
  await using parts = new AsyncDisposableStack();
  const workspaces: TemporaryRepository[] = [];
  for (let index = 0; index < options.sessions; index++) {
    const workspace = parts.use(await temporaryRepository({ "README.md": `# Session ${index}\n` }));
    await workspace.git("checkout", "--quiet", "-b", "work");
    workspaces.push(workspace);
  }
  const stop = new AbortController();
  const kills = { replicaKills: 0, nodeKills: 0 };
  const isKilling = options.killEveryMs !== undefined;
  const killing = isKilling ? killAtRandom(world, options, { kills, signal: stop.signal }) : undefined;
  // Turns go on until both kinds of kill hit some.
  const isEnough = () => !isKilling || (kills.replicaKills > 0 && kills.nodeKills > 0);
  const start = performance.now();
  const runs = await Promise.all(
    workspaces.map((workspace) => new LoadSession(world, workspace, options).run(isEnough)),
  );
  const seconds = (performance.now() - start) / 1000;
  stop.abort();
  await killing;
  const faults: string[] = [];
  let commandsRun = 0;
  for (const [index, run] of runs.entries()) {
    const workspace = workspaces[index];
    if (workspace === undefined) continue;
    try {
      lastOfGapless(run.events, 0n);
    } catch (error) {
      faults.push(`session ${index}: ${String(error)}`);
    }
    const ran = existsSync(workspace.path("ran.txt"))
      ? readFileSync(workspace.path("ran.txt"), "utf8").split("\n").length - 1
      : 0;
    const states = run.states;
    commandsRun += ran;
    // Of a command whose result is in the log it is known that it ran, once; of one that was cut off it is not.
    const told = eventsOf(run.events, "toolResult").filter(({ exitCode }) => exitCode === 0).length;
    if (ran < told || ran > states.length)
      faults.push(`session ${index}: ${ran} lines, ${told} told, ${states.join()}`);
    faults.push(...(await ledgerFaults(world, workspace, options.replicas)).map((text) => `session ${index}: ${text}`));
  }
  const states = runs.flatMap((run) => run.states);
  const times = runs.flatMap((run) => run.times).sort((a, b) => a - b);
  const events = runs.reduce((sum, run) => sum + Number(run.events.at(-1)?.seq ?? 0n), 0);
  return {
    sessions: options.sessions,
    turns: states.length,
    completed: states.filter((state) => state === "COMPLETED").length,
    brokenOff: states.filter((state) => state !== "COMPLETED" && ended.has(state)).length,
    unfinished: states.filter((state) => !ended.has(state)).length,
    commandsRun,
    events,
    eventsPerSecond: Math.round(events / seconds),
    turnP50: Math.round(times[Math.floor(times.length * 0.5)] ?? 0),
    turnP95: Math.round(times[Math.floor(times.length * 0.95)] ?? 0),
    seconds: Math.round(seconds),
    ...kills,
    faults,
  };
}

async function ledgerFaults(world: ReplicaWorld, workspace: TemporaryRepository, replicas: number): Promise<string[]> {
  const faults: string[] = [];
  for (let index = 0; index < replicas; index++) {
    for (let look = 0; ; look++) {
      const report = await verifyWorkspaceLedger({ workspaceRoot: workspace.root, stateDir: world.stateDir(index) });
      if (report.status === "ok") break;
      await delay(200);
      if (look < 100) continue;
      faults.push(`ledger at replica ${index}: ${report.status}, ${report.message}`);
      break;
    }
  }
  return faults;
}

/** One user: a session, its turns, and a yes to each question, over whichever server answers. */
class LoadSession {
  readonly events: InvokeEvent[] = [];
  readonly states: string[] = [];
  readonly times: number[] = [];
  readonly #world: ReplicaWorld;
  readonly #workspace: TemporaryRepository;
  readonly #options: LoadOptions;
  readonly #answered = new Set<string>();
  #sessionId = "";
  #wake = Promise.withResolvers<void>();

  constructor(world: ReplicaWorld, workspace: TemporaryRepository, options: LoadOptions) {
    this.#world = world;
    this.#workspace = workspace;
    this.#options = options;
  }

  /** Runs its turns, and more of them until `isEnough`. */
  async run(isEnough: () => boolean): Promise<this> {
    const { sessionId } = await this.#anywhere((client) =>
      client.startSession({ interactive: true, settings: { workingDir: this.#workspace.root } }),
    );
    this.#sessionId = sessionId;
    const stop = new AbortController();
    const listening = this.#listen(stop.signal);
    for (let turn = 0; turn < this.#options.turns || !isEnough(); turn++) {
      await delay(Math.random() * this.#options.spreadMs);
      const start = performance.now();
      const { turnId } = await this.#anywhere((client) =>
        client.startTurn({ sessionId, userInput: `turn ${turn}`, clientTurnId: `turn-${turn}` }),
      );
      const state = await this.#end(turnId, start + giveUpMs);
      this.states.push(state);
      if (state === "COMPLETED") this.times.push(performance.now() - start);
    }
    stop.abort();
    await listening;
    return this;
  }

  async #end(turnId: string, deadline: number): Promise<string> {
    for (;;) {
      const state = endState(this.events.filter((event) => event.turnId === turnId));
      if (ended.has(state) || performance.now() > deadline) return state;
      await Promise.race([this.#wake.promise, delay(1_000)]);
    }
  }

  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const connection = new AbortController();
      const onAbort = () => connection.abort();
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        const stream = this.#someClient().subscribe(
          {
            sessionId: this.#sessionId,
            afterSeq: this.events.at(-1)?.seq ?? 0n,
            client: { clientId: "user", capabilities: { confirmation: true } },
          },
          { signal: connection.signal },
        );
        for await (const event of stream) {
          if (event.seq === 0n) continue;
          this.events.push(event);
          this.#answer(event);
          const { resolve } = this.#wake;
          this.#wake = Promise.withResolvers();
          resolve();
        }
      } catch {
        // That server is gone; the next one goes on.
      }
      signal.removeEventListener("abort", onAbort);
      if (!signal.aborted) await delay(100 + Math.random() * 200);
    }
  }

  #answer(event: InvokeEvent): void {
    const [asked] = eventsOf([event], "confirmationRequest");
    if (asked === undefined || this.#answered.has(asked.requestId)) return;
    this.#answered.add(asked.requestId);
    this.#anywhere((client) =>
      client.submitClientEvent({
        sessionId: this.#sessionId,
        clientId: "user",
        ownerEpoch: asked.ownerEpoch,
        event: yesTo(asked),
      }),
    ).catch(() => undefined);
  }

  /** As a client behind a load balancer tries: again, somewhere else. */
  async #anywhere<Value>(call: (client: ReturnType<ReplicaWorld["client"]>) => Promise<Value>): Promise<Value> {
    const deadline = performance.now() + giveUpMs;
    for (;;) {
      try {
        return await call(this.#someClient());
      } catch (error) {
        if (performance.now() > deadline || /answered already|is over|earlier owner/.test(String(error))) throw error;
        await delay(200 + Math.random() * 500);
      }
    }
  }

  #someClient() {
    const running = Array.from({ length: this.#options.replicas }, (_, index) => index).filter((index) =>
      this.#world.isRunning(index),
    );
    return this.#world.client(running[Math.floor(Math.random() * running.length)] ?? 0);
  }
}

async function killAtRandom(
  world: ReplicaWorld,
  options: LoadOptions,
  { kills, signal }: { readonly kills: { replicaKills: number; nodeKills: number }; readonly signal: AbortSignal },
): Promise<void> {
  const pause = (milliseconds: number) => delay(milliseconds, undefined, { signal }).catch(() => undefined);
  for (let kill = 0; !signal.aborted; kill++) {
    await pause((options.killEveryMs ?? 0) * (0.5 + Math.random()));
    if (signal.aborted) break;
    if (kill % 2 === 0) {
      const victim = Math.floor(Math.random() * options.replicas);
      await world.killReplica(victim);
      kills.replicaKills++;
      await pause(1_000);
      await world.startReplica(victim);
    } else {
      const victim = Math.floor(Math.random() * world.cluster.size);
      await world.cluster.killNode(victim);
      kills.nodeKills++;
      await pause(1_000);
      await world.cluster.startNode(victim);
    }
  }
}
