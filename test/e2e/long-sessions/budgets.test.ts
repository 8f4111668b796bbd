import { userConfig } from "@gennai/testkit/user-config";
import { expect, test } from "vitest";
import { call } from "../../wire/wire-world.ts";
import { endState, eventOf, eventsOf, refusalOf, runTurn, startSession } from "../rpc/session-client.ts";
import { providerWorld } from "./provider-world.ts";

/** Every answer says that it took 120 tokens in and 30 out. */
const perCall = 150;

const prices = { currency: "EUR", models: { qwen3: { input: 10, output: 100 } } };

test("tokens and cost are told per answer, per turn, and for the session", async () => {
  await using home = await userConfig({ "models.json": prices });
  await using world = await providerWorld(
    (count) => (count === 1 ? { calls: [call("c1", "LS", { path: "." })] } : { text: ["ok"] }),
    { server: { environment: home.environment } },
  );
  const sessionId = await startSession(world.server);
  const events = await runTurn(world.server, sessionId, "look");
  expect(eventsOf(events, "usage")).toMatchObject([
    { inputTokens: 120, outputTokens: 30, currency: "EUR" },
    { inputTokens: 120, outputTokens: 30 },
  ]);
  const cost = (120 * 10 + 30 * 100) / 1e6;
  expect(eventsOf(events, "usage")[0]?.cost).toBeCloseTo(cost, 9);
  expect(eventOf(events, "final").usage).toMatchObject({ inputTokens: 240, outputTokens: 60, totalTokens: 300 });
  await runTurn(world.server, sessionId, "again");
  const { session } = await world.server.client.resumeSession({ sessionId });
  expect(session?.usage).toMatchObject({ inputTokens: 360n, outputTokens: 90n, modelCalls: 3, currency: "EUR" });
  expect(session?.usage?.cost).toBeCloseTo(3 * cost, 9);
  // A fork has spent nothing yet.
  const fork = await world.server.client.forkSession({ sessionId });
  expect((await world.server.client.resumeSession({ sessionId: fork.sessionId })).session?.usage?.modelCalls).toBe(0);
});

test.each([
  { name: "session", settings: { maxSessionTokens: 6_000n }, calls: 1 },
  { name: "turn", settings: { maxTurnTokens: 6_000n }, calls: 1 },
])("a budget of a $name is never exceeded: what would is not sent", async ({ settings, calls }) => {
  await using world = await providerWorld(
    (count) => ({ calls: [call(`c${count}`, "Read", { file_path: `big-${count}.txt` })] }),
    { files: { "big-1.txt": "many words here\n".repeat(1_900), "big-2.txt": "others\n", "big-3.txt": "x\n" } },
  );
  const sessionId = await startSession(world.server, { settings });
  const events = await runTurn(world.server, sessionId, "read");
  expect(endState(events)).toBe("ERROR");
  const error = events.find(({ event }) => event.case === "error")?.errorInfo;
  expect(error).toMatchObject({ code: "budget_exceeded", retryable: false });
  expect(error?.hint).toContain("max_");
  expect(world.provider.requests.length).toBeGreaterThanOrEqual(calls);
  const spent = eventsOf(events, "usage").reduce((sum, { totalTokens }) => sum + totalTokens, 0);
  expect(spent).toBe(world.provider.requests.length * perCall);
  const sent = world.provider.requests.length;
  if (settings.maxSessionTokens !== undefined) {
    expect(endState(await runTurn(world.server, sessionId, "go on"))).toBe("ERROR");
    expect(world.provider.requests).toHaveLength(sent);
    await world.server.client.setSettings({ sessionId, settings: { maxSessionTokens: 0n } });
    await runTurn(world.server, sessionId, "go on");
    expect(world.provider.requests.length).toBeGreaterThan(sent);
  }
});

test("a budget of cost needs prices, and ends the turn before it is exceeded", async () => {
  {
    await using world = await providerWorld(() => ({ text: ["hi"] }));
    const sessionId = await startSession(world.server, { settings: { maxCost: 1 } });
    expect(await refusalOf(runTurn(world.server, sessionId, "hi"))).toMatchObject({
      code: "failed_precondition",
      hint: expect.stringContaining("models.json"),
    });
    expect(world.provider.requests).toHaveLength(0);
  }
  await using home = await userConfig({
    "models.json": { models: { "openai-compatible/qwen3": { input: 1000, output: 1000 } } },
  });
  await using world = await providerWorld(() => ({ text: ["hi"] }), { server: { environment: home.environment } });
  const sessionId = await startSession(world.server, { settings: { maxCost: 0.5 } });
  const events = await runTurn(world.server, sessionId, "hi");
  expect(events.find(({ event }) => event.case === "error")?.errorInfo?.code).toBe("budget_exceeded");
  expect(world.provider.requests).toHaveLength(0);
});
