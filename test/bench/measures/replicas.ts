import { setTimeout as sleep } from "node:timers/promises";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { NatsCluster } from "../../conformance/session-log/nats-cluster.ts";
import { copyLedgerKey } from "../../conformance/session-log/shared-ledger-key.ts";
import type { BenchWorld, ModelRun } from "../bench-world.ts";
import { GennaiServer, runTurn } from "../gennai-server.ts";
import { peakMemory, processorTime } from "../process-usage.ts";
import type { Reading } from "../table/reading.ts";
import { percentile } from "../table/statistics.ts";

const sessions = 100;
const turns = 20;

/** 100 sessions of 20 turns on one server, and on three that share a log on three NATS nodes. Every turn reads a file. */
export async function measureReplicas(world: BenchWorld): Promise<readonly Reading[]> {
  const bare = await bareLoad(world);
  const one = await oneServer(world);
  const three = await threeServers(world);
  const rows: Reading[] = [];
  for (const [where, load] of [
    ["one server", one],
    ["three servers", three],
  ] as const) {
    const name = `${sessions} sessions, ${where}`;
    const floor = (value: number) => ({ floor: value, target: { type: "none" } }) as const;
    rows.push(
      { name: `${name}: turns`, unit: "/s", figure: load.perSecond, ...floor(bare.perSecond) },
      { name: `${name}: p50 of a turn`, unit: "ms", figure: load.p50, ...floor(bare.p50) },
      { name: `${name}: p95 of a turn`, unit: "ms", figure: load.p95, ...floor(bare.p95) },
      { name: `${name}: processor time of a turn`, unit: "ms", figure: load.processor, ...floor(bare.processor) },
      { name: `${name}: peak memory of one`, unit: "MiB", figure: load.memory, ...floor(bare.memory) },
    );
  }
  return rows;
}

interface Load {
  readonly perSecond: number;
  /** Milliseconds from the end of the model's answer to the next request. */
  readonly p50: number;
  readonly p95: number;
  /** Milliseconds for a turn, of all servers, without NATS, model and clients. */
  readonly processor: number;
  /** MiB of the server that had most. */
  readonly memory: number;
}

async function bareLoad(world: BenchWorld): Promise<Load> {
  const agent = world.process("floor-agent");
  const runs = modelRuns(world);
  const directory = world.workspace();
  return measured(runs, [agent.id], async () => {
    await agent.ask({ directory, baseUrls: runs.map(({ baseUrl }) => baseUrl) });
  });
}

async function oneServer(world: BenchWorld): Promise<Load> {
  await using server = await world.server(undefined, undefined, limits);
  return await servedLoad(world, [server]);
}

async function threeServers(world: BenchWorld): Promise<Load> {
  await using cluster = await NatsCluster.start(3);
  await using parts = new AsyncDisposableStack();
  const workspace = world.workspace();
  const servers: GennaiServer[] = [];
  let firstState: string | undefined;
  for (let index = 0; index < 3; index += 1) {
    const stateDirectory = world.directory();
    if (firstState !== undefined) await copyLedgerKey(firstState, stateDirectory);
    firstState ??= stateDirectory;
    const { profileDirectory } = world.options;
    const args = ["--log", cluster.address, ...limits];
    servers.push(parts.use(await GennaiServer.start({ workspace, stateDirectory, profileDirectory, args })));
  }
  return await servedLoad(world, servers);
}

/** All of them may run at once; a user of his own has lower limits. */
const limits = ["--max-turns-per-tenant", "200"];

async function servedLoad(world: BenchWorld, servers: readonly GennaiServer[]): Promise<Load> {
  const runs = modelRuns(world);
  const opened: AgentSession[] = [];
  for (const [index, { baseUrl }] of runs.entries()) {
    const server = servers[index % servers.length];
    if (server !== undefined) opened.push(await server.session(baseUrl));
  }
  // What opening them left to do.
  await sleep(1_000);
  const ids = servers.map(({ processId }) => processId);
  return measured(runs, ids, async () => {
    // On a busy machine a server may say nothing for longer than a client waits.
    await Promise.all(opened.map((session) => runTurn(session, { maxAttempts: 5 })));
  });
}

function modelRuns(world: BenchWorld): readonly ModelRun[] {
  return Array.from({ length: sessions }, () => world.modelRun(`read-${turns}`));
}

async function measured(
  runs: readonly ModelRun[],
  processIds: readonly number[],
  work: () => Promise<void>,
): Promise<Load> {
  const spent = () => processIds.reduce((sum, id) => sum + processorTime(id), 0);
  const before = spent();
  const start = performance.now();
  await work();
  const time = performance.now() - start;
  const processor = (spent() - before) / (sessions * turns);
  const gaps = (await Promise.all(runs.map((run) => run.gaps()))).flat();
  return {
    perSecond: (sessions * turns) / (time / 1000),
    p50: percentile(gaps, 0.5),
    p95: percentile(gaps, 0.95),
    processor,
    memory: Math.max(...processIds.map(peakMemory)),
  };
}
