import type { BenchWorld } from "../bench-world.ts";
import type { Reading } from "../table/reading.ts";
import { median, percentile } from "../table/statistics.ts";
import { type Bench, type Sample, sample, sampleRuns } from "./sample-turns.ts";

/** What the agent adds between two model calls. */
export async function measureTurns(world: BenchWorld): Promise<readonly Reading[]> {
  await using server = await world.server();
  const bench: Bench = { world, server, floor: world.process("floor-agent"), floorDirectory: world.workspace() };
  const rounds = world.choose(5, 3);
  await sample(bench, "read-40", 1);

  const reads = await sample(bench, "read-200", rounds);
  const readings: Reading[] = [
    reading("turn with one file read, p50", reads, 0.5, 1.5),
    reading("turn with one file read, p95", reads, 0.95, 2),
    {
      name: "  the same, from turn 5 to 200",
      unit: "ms",
      floor: growth(reads.floor),
      figure: growth(reads.figure),
      target: { type: "most", value: 2 },
    },
    {
      name: "  the same, late calls to early ones",
      unit: "x",
      floor: lateToEarly(reads.floor),
      figure: lateToEarly(reads.figure),
      target: { type: "most", value: 1.5 },
    },
  ];
  readings.push(reading("  the same, by `gennai run --json`", await sampleRuns(bench, "read-200", rounds), 0.5, 1.5));
  const edits = await sample(bench, `edit-${world.choose(100, 50)}`, rounds);
  readings.push(reading("one-line edit in 5,000 lines, p50", edits, 0.5, 1.5));
  const commandTurns = `shell-${world.choose(100, 40)}`;
  const commands = await sample(bench, commandTurns, rounds);
  readings.push(reading("shell command, not sandboxed, p50", commands, 0.5, 1.5));
  const writes = await sample(bench, commandTurns.replace("shell", "write"), rounds);
  readings.push(reading("  the same, one that writes a file", writes, 0.5, 1.5));
  // Between two answers of a real model there is time for what nobody waits for.
  const unhurriedTurns = `shell-${world.choose(40, 20)}-50`;
  const unhurried = await sample(bench, unhurriedTurns, rounds);
  readings.push(reading(pausing, unhurried, 0.5, 1.5));
  readings.push(await sandboxedCommands(bench, "shell command, staged, p50", commandTurns, rounds));
  readings.push(await sandboxedCommands(bench, pausing, unhurriedTurns, rounds));
  const parallel = await sample(bench, `reads-${world.choose(100, 50)}`, rounds);
  readings.push(reading("8 parallel reads, p50", parallel, 0.5, 2.5));
  return [...readings, ...(await firstTurns(bench, world.choose(9, 5)))];
}

/** The first ten turns of a process, as every `gennai run` is one. */
async function firstTurns(bench: Bench, rounds: number): Promise<readonly Reading[]> {
  const readings: Reading[] = [];
  for (const [what, script] of [
    ["one file read", "read-10"],
    ["8 parallel reads", "reads-10"],
    ["one-line edit in 5,000 lines", "edit-10"],
    ["shell command, not sandboxed", "shell-10"],
  ] as const) {
    const { floor, figure, processor } = await sampleRuns(bench, script, rounds, "new process");
    readings.push({
      name: `first ten turns of a process: ${what}, p50`,
      unit: "ms",
      floor: median(floor.map(median)),
      figure: median(figure.map(median)),
      processor: { floor: median(processor.floor), figure: median(processor.figure) },
      target: { type: "none" },
    });
  }
  return readings;
}

const pausing = "  the same, when the model takes 50 ms to answer";

async function sandboxedCommands(bench: Bench, name: string, script: string, rounds: number): Promise<Reading> {
  try {
    await using server = await bench.world.server(undefined, "staged");
    return reading(name, await sample({ ...bench, server }, script, rounds), 0.5, 5);
  } catch {
    // This machine has no sandbox.
    return { name, unit: "ms", figure: Number.NaN, target: { type: "none" } };
  }
}

function reading(name: string, { floor, figure, processor }: Sample, share: number, most: number): Reading {
  const of = (rounds: readonly (readonly number[])[]) => median(rounds.map((gaps) => percentile(gaps.slice(2), share)));
  return {
    name,
    unit: "ms",
    floor: of(floor),
    figure: of(figure),
    processor: { floor: median(processor.floor), figure: median(processor.figure) },
    target: { type: "ratio", most },
  };
}

/** What a call adds late in a turn, divided by what it adds early. */
function lateToEarly(rounds: readonly (readonly number[])[]): number {
  return median(rounds.map((gaps) => median(gaps.slice(-40)) / median(gaps.slice(4, 44))));
}

function growth(rounds: readonly (readonly number[])[]): number {
  return median(rounds.map((gaps) => median(gaps.slice(-12)) - median(gaps.slice(4, 16))));
}
