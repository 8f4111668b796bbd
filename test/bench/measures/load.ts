import type { BenchWorld, ModelRun } from "../bench-world.ts";
import { runTurn } from "../gennai-server.ts";
import { peakMemory } from "../process-usage.ts";
import type { Reading } from "../table/reading.ts";
import { percentile } from "../table/statistics.ts";

/** Many sessions at once on one server, and one long one; every turn reads a file. */
export async function measureLoad(world: BenchWorld): Promise<readonly Reading[]> {
  const ten = await load(world, 10, world.choose(100, 40));
  const fifty = await load(world, 50, world.choose(60, 20));
  const one = await governedLoad(world, 1, 200);
  return [
    rate("10 sessions, turns", ten, 300),
    slowest("10 sessions, p95 of a turn", ten, 40),
    rate("50 sessions, turns", fifty, 350),
    slowest("50 sessions, p95 of a turn", fifty, 200),
    {
      name: "50 sessions, peak memory",
      unit: "MiB",
      figure: fifty.figure.memory,
      target: { type: "most", value: 160 },
    },
    {
      name: "one session of 200 turns, peak memory",
      unit: "MiB",
      figure: one.memory,
      target: { type: "most", value: 130 },
    },
  ];
}

interface Load {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p95: number;
  readonly memory: number;
}

interface Loads {
  readonly floor: Load;
  readonly figure: Load;
}

async function load(world: BenchWorld, sessions: number, turns: number): Promise<Loads> {
  return { floor: await floorLoad(world, sessions, turns), figure: await governedLoad(world, sessions, turns) };
}

async function floorLoad(world: BenchWorld, sessions: number, turns: number): Promise<Load> {
  const agent = world.process("floor-agent");
  const runs = Array.from({ length: sessions }, () => world.modelRun(`read-${turns}`));
  const start = performance.now();
  await agent.ask({ directory: world.workspace(), baseUrls: runs.map(({ baseUrl }) => baseUrl) });
  return result(runs, sessions * turns, performance.now() - start, peakMemory(agent.id));
}

async function governedLoad(world: BenchWorld, sessions: number, turns: number): Promise<Load> {
  await using server = await world.server();
  const runs = Array.from({ length: sessions }, () => world.modelRun(`read-${turns}`));
  const opened = await Promise.all(runs.map(({ baseUrl }) => server.session(baseUrl)));
  const start = performance.now();
  await Promise.all(opened.map((session) => runTurn(session)));
  return await result(runs, sessions * turns, performance.now() - start, peakMemory(server.processId));
}

async function result(runs: readonly ModelRun[], turns: number, time: number, memory: number): Promise<Load> {
  const gaps = (await Promise.all(runs.map((run) => run.gaps()))).flat();
  return { perSecond: turns / (time / 1000), p95: percentile(gaps, 0.95), memory };
}

function rate(name: string, { floor, figure }: Loads, value: number): Reading {
  return { name, unit: "/s", floor: floor.perSecond, figure: figure.perSecond, target: { type: "least", value } };
}

function slowest(name: string, { floor, figure }: Loads, value: number): Reading {
  return { name, unit: "ms", floor: floor.p95, figure: figure.p95, target: { type: "most", value } };
}
