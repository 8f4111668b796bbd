import type { BenchWorld, ModelRun } from "../bench-world.ts";
import { GennaiServer, gennaiProcess } from "../gennai-server.ts";
import { LineProcess } from "../line-process.ts";
import type { Reading } from "../table/reading.ts";
import { median } from "../table/statistics.ts";

/** How long people wait before anything happens. */
export async function measureStarting(world: BenchWorld): Promise<readonly Reading[]> {
  const times = {
    empty: [] as number[],
    serve: [] as number[],
    floorRequest: [] as number[],
    runRequest: [] as number[],
  };
  const workspace = world.workspace();
  for (let round = 0; round <= world.choose(15, 6); round += 1) {
    const measured = {
      empty: await emptyScript(world),
      serve: await serverStart(world, workspace),
      floorRequest: await firstRequest(world, async (run) => {
        await using agent = new LineProcess(world.program("floor-agent"));
        await agent.ask({ directory: workspace, baseUrls: [run.baseUrl] });
      }),
      runRequest: await firstRequest(world, async (run) => {
        const flags = [
          ...["--server", "own", "--backend", "openai-compatible", "--model", "bench", "--workspace"],
          workspace,
        ];
        await using command = gennaiProcess(["run", "Go on.", "--base-url", run.baseUrl, ...flags], world.directory());
        await command.ended();
      }),
    };
    // The first round fills the compile cache.
    if (round === 0) continue;
    times.empty.push(measured.empty);
    times.serve.push(measured.serve);
    times.floorRequest.push(measured.floorRequest);
    times.runRequest.push(measured.runRequest);
  }
  return [
    {
      name: "server start to first accepted request (floor: an empty script)",
      unit: "ms",
      floor: median(times.empty),
      figure: median(times.serve),
      target: { type: "most", value: 180 },
    },
    {
      name: "gennai run to the first model request",
      unit: "ms",
      floor: median(times.floorRequest),
      figure: median(times.runRequest),
      target: { type: "ratio", most: 2 },
    },
    await newSession(world, workspace),
  ];
}

async function emptyScript(world: BenchWorld): Promise<number> {
  const start = performance.now();
  await using script = new LineProcess(world.program("empty"));
  await script.ended();
  return performance.now() - start;
}

async function serverStart(world: BenchWorld, workspace: string): Promise<number> {
  const start = performance.now();
  await using server = await GennaiServer.start({ workspace, stateDirectory: world.directory() });
  const response = await fetch(`${server.url}/health`, { headers: { authorization: `Bearer ${server.token}` } });
  if (!response.ok) throw new Error(`/health answers ${response.status}.`);
  return performance.now() - start;
}

async function firstRequest(world: BenchWorld, start: (run: ModelRun) => Promise<void>): Promise<number> {
  const run = world.modelRun("read-0");
  const started = process.hrtime.bigint();
  await start(run);
  return Number((await run.firstRequest()) - started) / 1e6;
}

async function newSession(world: BenchWorld, workspace: string): Promise<Reading> {
  await using server = await world.server(workspace);
  const { baseUrl } = world.modelRun("read-0");
  const floor: number[] = [];
  const figure: number[] = [];
  for (let round = 0; round < world.choose(100, 40); round += 1) {
    const start = performance.now();
    await (await fetch(world.modelUrl)).text();
    const between = performance.now();
    await server.session(baseUrl);
    floor.push(between - start);
    figure.push(performance.now() - between);
  }
  return {
    name: "new session (floor: a bare HTTP round trip)",
    unit: "ms",
    floor: median(floor),
    figure: median(figure),
    target: { type: "most", value: 5 },
  };
}
