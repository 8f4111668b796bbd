import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@gennai/client/connection/connection";
import { listCheckpoints, restoreCheckpoint } from "@gennai/client/session/checkpoints";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test } from "vitest";
import { crashOptions, randomNumbers } from "../crash-options.ts";
import { EffectCounts } from "../effect-counts.ts";
import { killProcess } from "../kill-process.ts";
import { type ServingChild, servingChild, token } from "./serving-child.ts";

const options = crashOptions(2);
const random = randomNumbers(options.seed);
const { signal } = new AbortController();

const names = Array.from({ length: 60 }, (_none, index) => `src/f${index}.ts`);
const write = (file: string) => call("Write", { file_path: file, content: `agent ${file}\n` });

test("a server that is killed in the middle of a restore leaves all files or none, and the restore in the list", async () => {
  await using state = await temporaryDirectory();
  await using scripts = await temporaryDirectory();
  await using workspace = await temporaryRepository({ "README.md": "# Test\n" });
  await workspace.git("checkout", "--quiet", "-b", "work");
  const script = scripts.path("script.yaml");
  const steps = [...names.map(write), { text: ["Done."] }];
  await writeFile(script, JSON.stringify({ turns: [{ match: ".", steps }] }));

  let serving = await startChild(0);
  const client = connect({ baseUrl: `http://127.0.0.1:${serving.port}`, token });
  const { sessionId } = await client.startSession({});
  const { turnId } = await client.startTurn({ sessionId, userInput: "go", clientTurnId: "1" });
  // While the turn runs, nothing is restored.
  for await (const _ of client.subscribe({ sessionId, untilTurnId: turnId })) continue;
  expect(await present()).toBe(names.length);
  const [turn] = (await listCheckpoints(client, sessionId, { signal })).checkpoints;
  let target = turn?.checkpointId ?? "";
  // A command made them: they go when they are named.
  const named = { sessionId, paths: names, force: true };

  const effects = new EffectCounts();
  for (let round = 0; round < options.rounds; round++) {
    const before = await present();
    const began = (await listCheckpoints(client, sessionId, { signal })).checkpoints.length;
    const restoring = restoreCheckpoint(client, { ...named, checkpointId: target }, { signal });
    // A kill is not a failure.
    restoring.catch(() => undefined);
    // Every second one is killed when it was told that all is written.
    const toItsEnd = round % 2 === 0;
    if (toItsEnd) effects.want("restoring");
    if (toItsEnd) expect((await restoring).files).toHaveLength(names.length);
    else await delay(random() * 250);
    await killProcess(serving.child);
    await restoring.catch(() => undefined);
    serving = await startChild(serving.port);
    const { checkpoints } = await listCheckpoints(client, sessionId, { signal });
    const after = await present();
    expect([0, names.length]).toContain(after);
    const added = checkpoints.slice(began);
    // What was written is in the list, and nothing else is.
    expect(added.map(({ kind }) => kind)).toEqual(after === before ? [] : ["restore"]);
    target = added[0]?.checkpointId ?? target;
    effects.add("restoring", added.length);
    if (toItsEnd) expect(after).toBe(names.length - before);
  }
  effects.expectAll();
  // The last one is left alone, and takes it back whatever the kills left.
  const restored = await restoreCheckpoint(client, { ...named, checkpointId: turn?.checkpointId ?? "" }, { signal });
  expect(restored.skipped).toEqual([]);
  expect(await present()).toBe(0);
  const ended = once(serving.child, "exit");
  serving.child.kill("SIGTERM");
  await ended;
  const report = await verifyWorkspaceLedger({ workspaceRoot: workspace.root, stateDir: state.root });
  expect(report).toMatchObject({ status: "ok", compared: { head: true, store: true } });

  async function present(): Promise<number> {
    const contents = await Promise.all(names.map((name) => workspace.read(name).catch(() => "")));
    expect(contents.every((text, index) => text === "" || text === `agent ${names[index]}\n`)).toBe(true);
    return contents.filter((text) => text !== "").length;
  }

  async function startChild(port: number): Promise<ServingChild> {
    const place = { stateDir: state.root, workspace: workspace.root, script, commands: "ask" } as const;
    const started = await servingChild({ port, ...place });
    onTestFinished(() => void started.child.kill("SIGKILL"));
    return started;
  }
});
