import type { BenchWorld } from "../bench-world.ts";
import { runTurn } from "../gennai-server.ts";
import type { LineProcess } from "../line-process.ts";
import { floodPiece } from "../model-script.ts";
import { processorTime } from "../process-usage.ts";
import type { StreamReport, StreamRequest } from "../stream-report.ts";
import type { Reading } from "../table/reading.ts";
import { median, percentile } from "../table/statistics.ts";

/** Text from the model to a client in another process, against a bare chunked response. */
export async function measureStreaming(world: BenchWorld): Promise<readonly Reading[]> {
  await using server = await world.server();
  const client = world.process("stream-client");
  const rawUrl = `http://127.0.0.1:${await world.process("raw-stream-server").line()}`;
  const raw = (script: string) => report(client, { type: "raw", url: rawUrl, baseUrl: world.modelRun(script).baseUrl });
  const governed = (script: string) =>
    report(client, { type: "gennai", url: server.url, token: server.token, baseUrl: world.modelRun(script).baseUrl });

  const deltas = 20_000;
  const floods = {
    floor: [] as StreamReport[],
    figure: [] as StreamReport[],
    cpu: [] as number[],
    double: [] as StreamReport[],
  };
  await raw("flood-2000");
  await governed("flood-2000");
  for (let round = 0; round < world.choose(7, 3); round += 1) {
    floods.floor.push(await raw(`flood-${deltas}`));
    const before = processorTime(server.processId);
    floods.figure.push(await governed(`flood-${deltas}`));
    floods.cpu.push(processorTime(server.processId) - before);
    floods.double.push(await governed(`flood-${2 * deltas}`));
  }
  const time = median(floods.figure.map((each) => each.time));
  const bytes = median(floods.figure.map((each) => each.bytes));
  const text = deltas * floodPiece.length;
  const isWhole = [...floods.floor, ...floods.figure].every((each) => each.characters === text);
  const isDouble = floods.double.every((each) => each.characters === 2 * text);
  if (!isWhole || !isDouble) throw new Error("Text was lost on the way.");
  const perSecond = (milliseconds: number) => deltas / (milliseconds / 1000);

  const paced = `paced-${world.choose(1200, 600)}`;
  const bareLags = (await raw(paced)).lags;
  const { lags } = await governed(paced);
  const wanted = world.choose(1200, 600);
  if (bareLags.length !== wanted || lags.length !== wanted) throw new Error("Text was lost on the way.");
  const most = (value: number) => ({ type: "most", value }) as const;
  return [
    {
      name: "text deltas, model to client",
      unit: "/s",
      floor: perSecond(median(floods.floor.map((each) => each.time))),
      figure: perSecond(time),
      target: { type: "least", value: 40_000 },
    },
    {
      name: "  twice the deltas, in times of the time",
      unit: "x",
      figure: median(floods.double.map((each) => each.time)) / time,
      target: most(2.2),
    },
    {
      name: "  first delta of a flood",
      unit: "ms",
      floor: median(floods.floor.map(({ lags: [first = Number.NaN] }) => first)),
      figure: median(floods.figure.map(({ lags: [first = Number.NaN] }) => first)),
      target: most(15),
    },
    { name: "  bytes on the wire, in times of the text", unit: "x", figure: bytes / text, target: most(5) },
    {
      name: "  server CPU for a delta",
      unit: "us",
      figure: (median(floods.cpu) * 1000) / deltas,
      target: { type: "none" },
    },
    {
      name: "lag at 200 deltas a second, p50",
      unit: "ms",
      floor: percentile(bareLags, 0.5),
      figure: percentile(lags, 0.5),
      target: most(2),
    },
    {
      name: "lag at 200 deltas a second, p95",
      unit: "ms",
      floor: percentile(bareLags, 0.95),
      figure: percentile(lags, 0.95),
      target: most(3),
    },
    await eventCost(world, client),
  ];
}

/** Replays a long session: log to wire, and nothing else. */
async function eventCost(world: BenchWorld, client: LineProcess): Promise<Reading> {
  await using server = await world.server();
  const session = await server.session(world.modelRun("read-200").baseUrl);
  const { turnId } = await runTurn(session);
  const request = {
    type: "replay",
    url: server.url,
    token: server.token,
    sessionId: session.sessionId,
    turnId,
    times: 10,
  } as const;
  await report(client, request);
  const costs: number[] = [];
  for (let round = 0; round < world.choose(7, 3); round += 1) {
    const before = processorTime(server.processId);
    const { events } = await report(client, request);
    // A call and its result, 200 times.
    if (events < 10 * 400) throw new Error(`A replay of ${events} events is not the session.`);
    costs.push(((processorTime(server.processId) - before) * 1000) / events);
  }
  return {
    name: "server CPU for an event on the wire",
    unit: "us",
    figure: median(costs),
    target: { type: "most", value: 4 },
  };
}

async function report(client: LineProcess, request: StreamRequest): Promise<StreamReport> {
  return JSON.parse(await client.ask(request)) as StreamReport;
}
