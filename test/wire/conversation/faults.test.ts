import { timestampMs } from "@bufbuild/protobuf/wkt";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import { expect, test } from "vitest";
import { endState, eventOf, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, wireWorld } from "../wire-world.ts";

const soon = { "retry-after-ms": "1" };
const busy = (status: number): ModelRefusal => ({ status, message: "busy", headers: soon });

// 408 and 409 as the providers' own libraries do (openai-node and anthropic-sdk-typescript, `shouldRetry`); 529 is
// https://platform.claude.com/docs/en/api/errors.
test("asks again what passes by itself, up to ten times", async () => {
  const statuses = [408, 409, 429, 500, 502, 503, 504, 529, 429];
  await using world = await wireWorld("anthropic", [...statuses.map(busy), { text: ["Here."] }]);
  const events = await runTurn(world.server, await startSession(world.server), "hi");
  expect(endState(events)).toBe("COMPLETED");
  expect(world.provider.requests).toHaveLength(10);
  expect(eventsOf(events, "warning").filter((text) => text.includes("Asking again"))).toHaveLength(9);
  expect(eventsOf(events, "warning").join("\n")).toContain("(request 10 of 10)");
});

const half = { text: ["half ", "of ", "it "], calls: [call("c1", "Bash", { command: "touch ran" })] };
test.each<[string, ModelAnswer]>([
  ["breaks", { ...half, dieAfter: 5 }],
  ["ends without an end", { ...half, endAfter: 5 }],
])("drops an answer whose stream %s, says so, and asks for it again", async (_name, broken) => {
  await using world = await wireWorld("anthropic", [broken, { text: ["Whole."] }, { text: ["Bye."] }]);
  const sessionId = await startSession(world.server);
  const events = await runTurn(world.server, sessionId, "hi");
  expect([endState(events), eventOf(events, "final").text]).toEqual(["COMPLETED", "Whole."]);
  expect(eventsOf(events, "warning").join("\n")).toContain("is dropped, and it is asked again");
  await world.server.restart();
  await runTurn(world.server, sessionId, "bye");
  const [first, again, later] = world.provider.requests.map(({ body }) => JSON.stringify(body));
  expect(again).toBe(first);
  expect(later).toContain("Whole.");
  expect(later).not.toMatch(/half|touch ran/);
});

test("waits a minute when the provider asks for it, shows until when, and stops when it is told to", async () => {
  await using world = await wireWorld("anthropic", [
    { status: 429, message: "slow down", headers: { "retry-after": "90" } },
  ]);
  const { client } = world.server;
  const sessionId = await startSession(world.server);
  const before = Date.now();
  let seen = "";
  let until = 0;
  for await (const { event, turnId } of client.invoke({ sessionId, userInput: "hi" })) {
    if (event.case === "warning") seen += event.value;
    if (event.case !== "status") continue;
    if (event.value.state === InvokeState.WAITING_FOR_PROVIDER) {
      until = event.value.until === undefined ? 0 : timestampMs(event.value.until);
      void client.cancelTurn({ sessionId, turnId });
    }
    if (event.value.state === InvokeState.CANCELLED) seen += " CANCELLED";
  }
  expect(seen).toMatch(/Asking again in 90 s \(request 2 of 10\).* CANCELLED$/);
  expect(until - before).toBeGreaterThan(85_000);
  expect(Date.now() - before).toBeLessThan(60_000);
  expect(world.provider.requests).toHaveLength(1);
});

test.each<[string, ModelRefusal]>([
  // https://platform.openai.com/docs/guides/error-codes
  [
    "a spent quota",
    {
      status: 429,
      message: "x",
      body: '{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}',
    },
  ],
  ["a wait of a day", { status: 429, message: "x", headers: { "retry-after": "86400" } }],
  // https://ai.google.dev/gemini-api/docs/rate-limits
  [
    "a spent day",
    {
      status: 429,
      message: "x",
      body: '{"error":{"code":429,"message":"Quota exceeded","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"2s"}]}}',
    },
  ],
  ["a wrong key", { status: 401, message: "wrong" }],
])("%s is not waited for", async (_name, refusal) => {
  await using world = await wireWorld("openai-compatible", () => refusal);
  const events = await runTurn(world.server, await startSession(world.server), "hi");
  expect(endState(events)).toBe("ERROR");
  expect(world.provider.requests).toHaveLength(1);
});

// https://platform.openai.com/docs/guides/rate-limits: the time is in the message.
test("waits as long as the words of a refusal say", async () => {
  const words = "Rate limit reached for gpt-5. Please try again in 20ms.";
  await using world = await wireWorld("openai", [{ status: 429, message: words }, { text: ["Here."] }]);
  const began = Date.now();
  const events = await runTurn(world.server, await startSession(world.server), "hi");
  expect(endState(events)).toBe("COMPLETED");
  expect(eventsOf(events, "warning").join()).toContain("Asking again in a moment");
  expect(Date.now() - began).toBeLessThan(30_000);
});

// The words of https://platform.claude.com/docs/en/api/errors, and of an input that is too long.
test.each([
  ["fails", { type: "invalid_request_error", message: "Something is wrong." }, "ERROR"],
  ["finds the conversation too long", { type: "invalid_request_error", message: "prompt is too long" }, "ERROR"],
])("nothing is left of an answer that %s in its middle", async (_name, error, end) => {
  const broken = { text: ["half "], calls: [call("c1", "Bash", { command: "touch ran" })], error };
  await using world = await wireWorld("anthropic", (_count, { body }) =>
    JSON.stringify(body).includes('"bye"') ? { text: ["Bye."] } : broken,
  );
  const sessionId = await startSession(world.server);
  const events = await runTurn(world.server, sessionId, "hi");
  expect(endState(events)).toBe(end);
  const told = eventsOf(events, "toolResult").find(({ id }) => id === "c1");
  expect(JSON.parse(told?.output ?? "")).toMatchObject({ error: { code: "answer_broke_off" } });
  await runTurn(world.server, sessionId, "bye");
  expect(JSON.stringify(world.provider.requests.at(-1)?.body)).not.toMatch(/half|touch ran|tool_result/);
});

test("an answer that broke off counts in the budget", async () => {
  const broken = { text: ["half ".repeat(100)], error: { type: "overloaded_error", message: "Overloaded" } };
  await using world = await wireWorld("anthropic", [broken, { text: ["Whole."] }]);
  const sessionId = await startSession(world.server, { settings: { maxTurnTokens: 1_000_000n } });
  const used = eventsOf(await runTurn(world.server, sessionId, "hi"), "usage");
  expect(used.map(({ estimated }) => estimated)).toEqual([true, false]);
  expect(Number(used[0]?.outputTokens)).toBeGreaterThan(50);
});
