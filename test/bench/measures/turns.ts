import type { BenchWorld } from "../bench-world.ts";
import { type GennaiServer, gennaiProcess, runTurn } from "../gennai-server.ts";
import type { LineProcess } from "../line-process.ts";
import type { Reading } from "../reading.ts";
import { median, percentile } from "../statistics.ts";

interface Sample {
  /** Milliseconds from the end of an answer to the next request, round by round. */
  readonly floor: readonly (readonly number[])[];
  readonly figure: readonly (readonly number[])[];
}

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
  // Between two answers of a real model there is time for what nobody waits for.
  const unhurriedTurns = `shell-${world.choose(40, 20)}-50`;
  const unhurried = await sample(bench, unhurriedTurns, rounds);
  readings.push(reading(pausing, unhurried, 0.5, 1.5));
  readings.push(await sandboxedCommands(bench, "shell command, staged, p50", commandTurns, rounds));
  readings.push(await sandboxedCommands(bench, pausing, unhurriedTurns, rounds));
  const parallel = await sample(bench, `reads-${world.choose(100, 50)}`, rounds);
  readings.push(reading("8 parallel reads, p50", parallel, 0.5, 2.5));
  return readings;
}

const pausing = "  the same, when the model takes 50 ms to answer";

async function sandboxedCommands(bench: Bench, name: string, script: string, rounds: number): Promise<Reading> {
  try {
    await using server = await bench.world.server(undefined, "required");
    return reading(name, await sample({ ...bench, server }, script, rounds), 0.5, 5);
  } catch {
    // This machine has no sandbox.
    return { name, unit: "ms", figure: Number.NaN, target: { type: "none" } };
  }
}

interface Bench {
  readonly world: BenchWorld;
  readonly server: GennaiServer;
  readonly floor: LineProcess;
  readonly floorDirectory: string;
}

/** Floor and figure by turns. Each round is a session of its own; edits begin where the round before did. */
async function sample(bench: Bench, script: string, rounds: number): Promise<Sample> {
  const { world, server, floor } = bench;
  const result = { floor: [] as (readonly number[])[], figure: [] as (readonly number[])[] };
  for (let round = 0; round < rounds; round += 1) {
    const isEdit = script.startsWith("edit");
    const bare = world.modelRun(script);
    await floor.ask({ directory: isEdit ? world.workspace() : bench.floorDirectory, baseUrls: [bare.baseUrl] });
    result.floor.push(await bare.gaps());

    const governed = world.modelRun(script);
    if (isEdit) {
      await using own = await world.server();
      await runTurn(await own.session(governed.baseUrl));
    } else {
      await runTurn(await server.session(governed.baseUrl));
    }
    result.figure.push(await governed.gaps());
  }
  return result;
}

/** The same in one process with its client, which prints every event: what `gennai run` adds between two model calls. */
async function sampleRuns({ world, floor, floorDirectory }: Bench, script: string, rounds: number): Promise<Sample> {
  const result = { floor: [] as (readonly number[])[], figure: [] as (readonly number[])[] };
  for (let round = 0; round < rounds; round += 1) {
    const bare = world.modelRun(script);
    await floor.ask({ directory: floorDirectory, baseUrls: [bare.baseUrl] });
    result.floor.push(await bare.gaps());
    const governed = world.modelRun(script);
    const model = ["--backend", "openai-compatible", "--model", "bench", "--base-url", governed.baseUrl];
    const limits = ["--max-iterations", "1000", "--max-context-tokens", "4000000", "--sandbox", "off"];
    const place = ["--server", "own", "--workspace", world.workspace()];
    const args = ["run", "Go on.", "--yes", "--json", ...model, ...limits, ...place];
    await using command = gennaiProcess(args, world.directory());
    await command.readToEnd();
    result.figure.push(await governed.gaps());
  }
  return result;
}

function reading(name: string, { floor, figure }: Sample, share: number, most: number): Reading {
  const of = (rounds: readonly (readonly number[])[]) => median(rounds.map((gaps) => percentile(gaps.slice(2), share)));
  return { name, unit: "ms", floor: of(floor), figure: of(figure), target: { type: "ratio", most } };
}

/** What a call adds late in a turn, divided by what it adds early. */
function lateToEarly(rounds: readonly (readonly number[])[]): number {
  return median(rounds.map((gaps) => median(gaps.slice(-40)) / median(gaps.slice(4, 44))));
}

function growth(rounds: readonly (readonly number[])[]): number {
  return median(rounds.map((gaps) => median(gaps.slice(-12)) - median(gaps.slice(4, 16))));
}
