import { execFile, execFileSync } from "node:child_process";
import { generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect } from "@gennai/client/connection/connection";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { openStore } from "@gennai/store/sqlite/store";
import { ripgrepPath } from "../../../packages/machine/src/workspace/search/ripgrep-path.ts";
import type { BenchWorld } from "../bench-world.ts";
import { agrees, type GennaiServer, gennaiProgram, runTurn } from "../gennai-server.ts";
import { processorTime, residentMemory } from "../process-usage.ts";
import type { Reading } from "../table/reading.ts";
import { median, percentile } from "../table/statistics.ts";
import { timed } from "../timed.ts";
import { gateDecisions } from "./gate.ts";

const run = promisify(execFile);

/** What should cost the same when there is much more of something. Where no floor is named, it is the same with little. */
export async function measureGrowth(world: BenchWorld): Promise<readonly Reading[]> {
  return [
    ...(await prompts(world, 1_000)),
    ...(await openedSessions(world, 1_000)),
    ...(await ledger(world, 10_000)),
    ...(await rules(world, 2_000)),
    ...(await watchers(world, 20)),
    ...(await largeTree(world, 100_000)),
  ];
}

async function prompts(world: BenchWorld, count: number): Promise<readonly Reading[]> {
  await using server = await world.server();
  const session = await server.session(world.modelRun("read-0").baseUrl);
  const few = 50;
  const turns: { readonly time: number; readonly processor: number }[] = [];
  let early = Number.NaN;
  // The first ones compile what the others use.
  for (let prompt = -few; prompt < count; prompt += 1) {
    if (prompt === 0) early = residentMemory(server.processId);
    const before = processorTime(server.processId);
    const time = await timed(() => runTurn(session));
    if (prompt >= 0) turns.push({ time, processor: processorTime(server.processId) - before });
  }
  const times = turns.map(({ time }) => time);
  const processor = turns.map((turn) => turn.processor);
  return [
    {
      name: `${count} prompts in a session, memory of the server (floor: after ${few})`,
      unit: "MiB",
      floor: early,
      figure: residentMemory(server.processId),
      target: { type: "most", value: Math.round(early) + 40 },
    },
    {
      name: "… a late turn (floor: an early one)",
      unit: "ms",
      floor: median(times.slice(0, few)),
      figure: median(times.slice(-few)),
      processor: { floor: median(processor.slice(0, few)), figure: median(processor.slice(-few)) },
      target: { type: "ratio", most: 1.5 },
    },
  ];
}

async function openedSessions(world: BenchWorld, count: number): Promise<readonly Reading[]> {
  await using server = await world.server();
  const { baseUrl } = world.modelRun("read-0");
  const few = 50;
  for (let each = 0; each < few; each += 1) await server.session(baseUrl);
  const early = residentMemory(server.processId);
  const times: number[] = [];
  const processor: number[] = [];
  for (let each = 0; each < count; each += 1) {
    const before = processorTime(server.processId);
    times.push(await timed(() => server.session(baseUrl)));
    processor.push(processorTime(server.processId) - before);
  }
  return [
    {
      name: `${count} sessions opened, memory of the server (floor: ${few})`,
      unit: "MiB",
      floor: early,
      figure: residentMemory(server.processId),
      target: { type: "most", value: Math.round(early) + 100 },
    },
    {
      name: "… a late one to open (floor: an early one)",
      unit: "ms",
      floor: median(times.slice(0, few)),
      figure: median(times.slice(-few)),
      processor: { floor: median(processor.slice(0, few)), figure: median(processor.slice(-few)) },
      target: { type: "ratio", most: 1.5 },
    },
  ];
}

async function ledger(world: BenchWorld, count: number): Promise<readonly Reading[]> {
  const few = 100;
  const [small, large] = [await ledgerOf(world, few), await ledgerOf(world, count)];
  const costs = new Map<string, readonly [Usage, Usage]>();
  for (const [name, args] of [
    ["verify", []],
    ["export", ["--format", "bundle"]],
  ] as const) {
    const of = async (place: LedgerPlace): Promise<Usage> => {
      const out = name === "export" ? ["--out", join(world.directory(), "bundle.json")] : [];
      return usageOf(world, place.stateDirectory, ["ledger", name, "--workspace", place.workspace, ...args, ...out]);
    };
    // The first one compiles what the others take from the cache.
    await of(small);
    costs.set(name, [await of(small), await of(large)]);
  }
  return [...costs].flatMap(([name, [one, other]]): readonly Reading[] => [
    {
      name:
        name === "verify"
          ? `ledger ${name}, processor time of a record of ${count} (floor: Ed25519 alone)`
          : `ledger ${name}, processor time of a record of ${count}`,
      unit: "ms",
      ...(name === "verify" ? { floor: bareVerification() } : {}),
      figure: (other.processor - one.processor) / (count - few),
      target: name === "verify" ? { type: "most", value: 0.1 } : { type: "none" },
    },
    {
      name: `… peak memory (floor: ${few} records)`,
      unit: "MiB",
      floor: one.memory,
      figure: other.memory,
      target: name === "verify" ? { type: "ratio", most: 1.2 } : { type: "most", value: 200 },
    },
  ]);
}

interface LedgerPlace {
  readonly workspace: string;
  readonly stateDirectory: string;
}

async function ledgerOf(world: BenchWorld, records: number): Promise<LedgerPlace> {
  const place = { workspace: world.workspace(), stateDirectory: world.directory() };
  await using store = await openStore(place.stateDirectory, { onWarning: () => undefined });
  await store.log.create({ sessionId: "s", workspaceRoot: place.workspace, time: 1 });
  const entries = Array.from({ length: records }, (_, index) => ({
    kind: index % 2 === 0 ? ("intent" as const) : ("outcome" as const),
    time: Date.UTC(2026, 0, 1) + index,
    sessionId: "s",
    turnId: `turn-${Math.floor(index / 20)}`,
    modelId: "bench",
    revision: "0123456789012345678901234567890123456789",
    calls: [
      {
        callId: `call-${index}`,
        tool: "run_command",
        input: { command: `npm test -- packages/part-${index}` },
        verdict: "allow" as const,
        rule: "sandbox",
        risk: "low" as const,
      },
    ],
    files: [],
    details: { isolation: "bubblewrap", isolation_reason: "bubblewrap works here" },
  }));
  for (let from = 0; from < records; from += 100) {
    const batch = { events: [], ledger: entries.slice(from, from + 100), durable: false };
    await store.log.append("s", batch, { seq: 0, epoch: 1 });
  }
  return place;
}

/** Milliseconds. */
function bareVerification(): number {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const messages = Array.from({ length: 500 }, () => randomBytes(64));
  const signatures = messages.map((message) => sign(null, message, privateKey));
  const before = process.cpuUsage();
  for (const [index, message] of messages.entries()) {
    if (!verify(null, message, publicKey, signatures[index] ?? message)) throw new Error("A signature does not hold.");
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / messages.length;
}

interface Usage {
  /** Milliseconds. */
  readonly processor: number;
  /** The most it ever had, in MiB. */
  readonly memory: number;
}

/** What a command needs from its start to its end. */
async function usageOf(world: BenchWorld, stateDirectory: string, args: readonly string[]): Promise<Usage> {
  const file = join(world.directory(), "usage.json");
  const told = `import { writeFileSync } from "node:fs";
    process.on("exit", () => writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.resourceUsage())));`;
  const preload = `data:text/javascript,${encodeURIComponent(told)}`;
  await run(process.execPath, ["--import", preload, gennaiProgram, ...args], {
    env: { ...process.env, GENNAI_STATE_DIR: stateDirectory },
    maxBuffer: 2 ** 28,
  });
  const usage = JSON.parse(readFileSync(file, "utf8")) as NodeJS.ResourceUsage;
  return { processor: (usage.userCPUTime + usage.systemCPUTime) / 1000, memory: usage.maxRSS / 1024 };
}

async function rules(world: BenchWorld, count: number): Promise<readonly Reading[]> {
  const [few, many] = [await gateDecisions(world, 20), await gateDecisions(world, count)];
  return many.flatMap(({ name, times }, index) =>
    [0.5, 0.99].map(
      (share): Reading => ({
        name: `gate decision with ${count} rules, ${name}, p${share * 100} (floor: 20 rules)`,
        unit: "us",
        floor: percentile(few[index]?.times ?? [], share),
        figure: percentile(times, share),
        target: { type: "ratio", most: 2 },
      }),
    ),
  );
}

async function watchers(world: BenchWorld, count: number): Promise<readonly Reading[]> {
  await using server = await world.server();
  const costs = { one: [] as number[], many: [] as number[] };
  await watchedTurn(world, server, 1);
  for (let round = 0; round < world.choose(5, 3); round += 1) {
    costs.one.push(await watchedTurn(world, server, 1));
    costs.many.push(await watchedTurn(world, server, count));
  }
  const [one, many] = [median(costs.one), median(costs.many)];
  return [
    {
      name: `server CPU for an event that ${count} clients watch (floor: 1 client)`,
      unit: "us",
      floor: one,
      figure: many,
      target: { type: "none" },
    },
    {
      name: "… for each client more",
      unit: "us",
      figure: (many - one) / (count - 1),
      target: { type: "most", value: 4 },
    },
  ];
}

/** Microseconds of the server for an event of a turn, the turn itself included. */
async function watchedTurn(world: BenchWorld, server: GennaiServer, clients: number): Promise<number> {
  const session = await server.session(world.modelRun("read-100").baseUrl);
  const { sessionId } = session;
  const before = processorTime(server.processId);
  const turn = await session.startTurn({ text: "Go on." }, { signal: new AbortController().signal });
  const seen = await Promise.all(
    Array.from({ length: clients }, async () => {
      let events = 0;
      const client = connect({ baseUrl: server.url, token: server.token });
      // In batches, as every client of ours follows.
      for await (const { seq, event } of client.subscribe({ sessionId, untilTurnId: turn.turnId, batches: true })) {
        events += event.case === "batch" ? event.value.events.length : seq > 0n ? 1 : 0;
      }
      return events;
    }),
  );
  const spent = processorTime(server.processId) - before;
  const [events = 0] = seen;
  if (events < 200 || seen.some((other) => other !== events)) throw new Error(`Clients saw ${seen.join(", ")} events.`);
  return (spent * 1000) / events;
}

async function largeTree(world: BenchWorld, count: number): Promise<readonly Reading[]> {
  const root = world.workspace();
  for (let index = 0; index < count; index += 1) {
    const directory = join(root, `d${index % 100}`, `e${index % 1000}`);
    if (index < 1000) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file-${index}.ts`), `export const value = ${index};\n`);
  }
  const identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgSign=false"];
  for (const args of [
    ["add", "--all"],
    ["commit", "--quiet", "--message", "files"],
  ]) {
    execFileSync("git", [...identity, ...args], { cwd: root });
  }
  const readings: Reading[] = [await globOf(world, root, count)];
  for (const [name, commands] of [
    ["staged", "staged"],
    ["not staged", "ask"],
  ] as const) {
    const [small, large] = [
      await writingCommands(world, world.workspace(), commands),
      await writingCommands(world, root, commands),
    ];
    readings.push(
      {
        name: `${count} files: first command that writes, ${name} (floor: a small workspace)`,
        unit: "ms",
        floor: small.first,
        figure: large.first,
        target: { type: "most", value: 1000 },
      },
      {
        name: "… later ones",
        unit: "ms",
        floor: small.later,
        figure: large.later,
        target: { type: "most", value: Math.round(small.later) + 50 },
      },
    );
  }
  return readings;
}

async function globOf(world: BenchWorld, root: string, count: number): Promise<Reading> {
  const workspace = openLocalWorkspace(root, { stateDir: world.directory() });
  const pattern = "**/file-*77.ts";
  const [bare, ours]: [number[], number[]] = [[], []];
  const { signal } = new AbortController();
  const place = await workspace.resolve(".");
  for (let round = 0; round <= world.choose(15, 7); round += 1) {
    bare.push(await timed(() => run(ripgrepPath(), ["--files", "--glob", pattern], { cwd: root, maxBuffer: 2 ** 26 })));
    ours.push(await timed(() => workspace.glob(pattern, place, { limit: 500, signal })));
  }
  return {
    name: `${count} files: Glob (floor: ripgrep alone)`,
    unit: "ms",
    // The first round reads directories from the disk.
    floor: median(bare.slice(1)),
    figure: median(ours.slice(1)),
    target: { type: "ratio", most: 1.5 },
  };
}

async function writingCommands(
  world: BenchWorld,
  root: string,
  commands: "staged" | "ask",
): Promise<{ readonly first: number; readonly later: number }> {
  try {
    await using server = await world.server(root, commands);
    const model = world.modelRun(`write-${world.choose(20, 8)}`);
    await runTurn(await server.session(model.baseUrl, agrees));
    const [first = Number.NaN, ...later] = await model.gaps();
    return { first, later: median(later) };
  } catch (error) {
    if (commands === "ask") throw error;
    // This machine has no sandbox.
    return { first: Number.NaN, later: Number.NaN };
  }
}
