import type { BenchWorld } from "../bench-world.ts";
import { agrees, type GennaiServer, gennaiProcess, runTurn } from "../gennai-server.ts";
import { LineProcess } from "../line-process.ts";
import { treeProcessorTime } from "../process-usage.ts";

/** What the rounds took, each beside the other's. */
export interface Sample {
  /** Milliseconds from the end of an answer to the next request, round by round. */
  readonly floor: (readonly number[])[];
  readonly figure: (readonly number[])[];
  /** Milliseconds of processor time for a call, round by round. */
  readonly processor: { readonly floor: number[]; readonly figure: number[] };
}

export interface Bench {
  readonly world: BenchWorld;
  readonly server: GennaiServer;
  readonly floor: LineProcess;
  readonly floorDirectory: string;
}

/**
 * Floor and figure by turns. Each round is a session of its own; edits begin where the round before did.
 *
 * @param floorRuns of each round: the floor takes so little that one of them says little
 */
export async function sample(bench: Bench, script: string, rounds: number, floorRuns = 1): Promise<Sample> {
  const { world, server } = bench;
  const result = emptySample();
  for (let round = 0; round < rounds; round += 1) {
    for (let each = 0; each < floorRuns; each += 1) await floorRound(bench, script, result);
    const governed = world.modelRun(script);
    await using own = script.startsWith("edit") ? await world.server() : undefined;
    const used = own ?? server;
    // A command that writes needs a yes where no sandbox holds it.
    const session = await used.session(governed.baseUrl, script.startsWith("write") ? agrees : undefined);
    const before = treeProcessorTime(used.processId);
    await runTurn(session);
    const after = treeProcessorTime(used.processId);
    const gaps = await governed.gaps();
    result.figure.push(gaps);
    result.processor.figure.push((after - before) / gaps.length);
  }
  return result;
}

/**
 * The same in one process with its client, which prints every event: what `gennai run` adds between two model calls.
 *
 * @param beside `new process`: the floor's is as new, whose first turns wait for what is compiled and opened
 */
export async function sampleRuns(
  bench: Bench,
  script: string,
  rounds: number,
  beside: "one process" | "new process" = "one process",
): Promise<Sample> {
  const { world } = bench;
  const result = emptySample();
  for (let round = 0; round < rounds; round += 1) {
    if (beside === "one process") await floorRound(bench, script, result);
    else {
      await using floor = new LineProcess(world.program("floor-agent"));
      await floorRound({ ...bench, floor }, script, result);
    }
    const governed = world.modelRun(script);
    const model = ["--backend", "openai-compatible", "--model", "bench", "--base-url", governed.baseUrl];
    const limits = ["--max-iterations", "1000", "--max-context-tokens", "4000000", "--commands", "ask"];
    const place = ["--server", "own", "--workspace", world.workspace()];
    const args = ["run", "Go on.", "--yes", "--json", ...model, ...limits, ...place];
    await using command = gennaiProcess(args, world.directory());
    // Its start is another row's: the processor's time is taken from its first result on.
    await lineWith(command, '"toolResult":');
    const before = treeProcessorTime(command.id);
    await lineWith(command, '"final":');
    const after = treeProcessorTime(command.id);
    await command.readToEnd();
    const gaps = await governed.gaps();
    result.figure.push(gaps);
    result.processor.figure.push((after - before) / (gaps.length - 1));
  }
  return result;
}

function emptySample(): Sample {
  return { floor: [], figure: [], processor: { floor: [], figure: [] } };
}

async function floorRound({ world, floor, floorDirectory }: Bench, script: string, result: Sample): Promise<void> {
  const bare = world.modelRun(script);
  const directory = script.startsWith("edit") ? world.workspace() : floorDirectory;
  const before = treeProcessorTime(floor.id);
  await floor.ask({ directory, baseUrls: [bare.baseUrl] });
  const after = treeProcessorTime(floor.id);
  const gaps = await bare.gaps();
  result.floor.push(gaps);
  result.processor.floor.push((after - before) / gaps.length);
}

async function lineWith(command: LineProcess, part: string): Promise<void> {
  while (!(await command.line()).includes(part));
}
