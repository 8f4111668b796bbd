import { EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { FailureClass, Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { samplePng } from "@gennai/testkit/sample-images";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import {
  allEvents,
  codeOf,
  endState,
  eventOf,
  eventsOf,
  lastOfGapless,
  refusalOf,
  runTurn,
  startSession,
  stateName,
  Watcher,
} from "../session-client.ts";
import { useServer } from "../use-server.ts";

const hello = [{ match: ".", steps: [{ text: ["Hel", "lo."] }] }];
const greeting = useServer(() => startTestServer({ script: hello }));

const wrongCalls: readonly (readonly [what: string, tool: Readonly<Record<string, unknown>>, code: string])[] = [
  ["a tool nobody has", { name: "Teleport", args: {} }, "unknown_tool"],
  ["arguments that are not JSON", { name: "Read", args_json: "{" }, "bad_arguments"],
  ["arguments of the wrong shape", { name: "Read", args: { place: "a" } }, "bad_arguments"],
  ["a tool that the scenario leaves out", { name: "ProposeChanges", args: { changes: [] } }, "unknown_tool"],
];
const calling = useServer(() =>
  startTestServer({
    script: wrongCalls.map(([what, tool]) => ({ match: `^${what}$`, steps: [{ tool }, { text: ["Oh."] }] })),
  }),
);

describe("a turn", () => {
  test("the model call that ends a turn is in the session's sum", async () => {
    const steps = [
      call("LS", {}),
      { usage: { input_tokens: 5, output_tokens: 2 } },
      { text: ["Done."] },
      { usage: { input_tokens: 30, output_tokens: 4 } },
    ];
    await using server = await startTestServer({ steps });
    const sessionId = await startSession(server);
    const { sessionUsage } = eventOf(await runTurn(server, sessionId, "look"), "final");
    expect(sessionUsage).toMatchObject({ inputTokens: 35n, outputTokens: 6n, modelCalls: 2 });
  });

  test("begins with STARTED, ends with the final message and COMPLETED", async () => {
    await using server = await startTestServer({
      files: { "a.txt": "one\n" },
      steps: [
        { thinking: ["Let me", " look."] },
        call("Read", { file_path: "a.txt" }),
        { usage: { input_tokens: 5, output_tokens: 2 } },
        { text: ["It says ", "one."] },
      ],
    });
    const sessionId = await startSession(server);
    const events = await runTurn(server, sessionId, "What does it say?", { enableThinking: true });
    const order = events.map(({ event }) => (event.case === "status" ? stateName(event.value.state) : event.case));
    expect(order.filter((each, index) => each !== order[index - 1])).toEqual([
      "STARTED",
      "userMessage",
      "instructionsTold",
      "THINKING",
      "thinkingDelta",
      "toolCallStart",
      "toolCallDelta",
      "toolCall",
      "usage",
      "WAITING_TOOL_RESULT",
      "gateDecision",
      "RUN_TOOL",
      "toolResult",
      "THINKING",
      "assistantDelta",
      "final",
      "COMPLETED",
    ]);
    expect(eventOf(events, "userMessage")).toMatchObject({ scenario: "CODE", text: "What does it say?" });
    expect(eventOf(events, "toolResult")).toMatchObject({ error: "", failureClass: FailureClass.UNSPECIFIED });
    expect(eventOf(events, "final")).toMatchObject({ text: "It says one.", usage: { inputTokens: 5, totalTokens: 7 } });
    expect(lastOfGapless(events)).toBe(events.at(-1)?.seq);
    expect(new Set(events.map(({ turnId }) => turnId)).size).toBe(1);
    expect(events.every(({ time }) => time !== undefined)).toBe(true);
  });

  test("an empty scenario is CODE, and EDITOR_CODE in Proposal Mode", async () => {
    const server = greeting();
    const plain = await runTurn(server, await startSession(server), "hi");
    const proposing = await runTurn(server, await startSession(server, { proposal: true }), "hi");
    expect(eventOf(plain, "userMessage").scenario).toBe("CODE");
    expect(eventOf(proposing, "userMessage").scenario).toBe("EDITOR_CODE");
  });

  test("a tool that fails sets output and error, and the turn goes on", async () => {
    await using server = await startTestServer({
      steps: [call("Read", { file_path: "gone.txt" }), { text: ["Sorry."] }],
    });
    const events = await runTurn(server, await startSession(server), "read it");
    const result = eventOf(events, "toolResult");
    expect(result.error).not.toBe("");
    expect(JSON.parse(result.output)).toMatchObject({ error: { code: "not_found", message: result.error } });
    expect(endState(events)).toBe("COMPLETED");
  });

  test.each(wrongCalls)("%s: the model hears why", async (what, _tool, code) => {
    const server = calling();
    const events = await runTurn(server, await startSession(server), what);
    expect(JSON.parse(eventOf(events, "toolResult").output)).toMatchObject({ error: { code } });
    expect(eventOf(events, "gateDecision").verdict).toBe(Verdict.DENY);
    expect(endState(events)).toBe("COMPLETED");
  });

  test("a model that fails ends the turn with an error for people and one for programs", async () => {
    await using server = await startTestServer({
      steps: [{ error: { code: "rate_limited", message: "Too many.", hint: "Wait.", retryable: true } }],
    });
    const events = await runTurn(server, await startSession(server), "go");
    expect(eventOf(events, "error")).toBe("Too many.");
    expect(events.find(({ event }) => event.case === "error")?.errorInfo).toMatchObject({
      code: "model_rate_limited",
      hint: "Wait.",
      retryable: true,
    });
    expect(endState(events)).toBe("ERROR");
  });

  test("ends at its limit of model calls", async () => {
    const look = call("LS", {});
    await using server = await startTestServer({
      steps: [look, { text: ["a"] }, look, { text: ["b"] }, look, { text: ["c"] }],
    });
    const sessionId = await startSession(server, { settings: { maxIterations: 2 } });
    const events = await runTurn(server, sessionId, "go");
    expect(events.find(({ event }) => event.case === "error")?.errorInfo?.code).toBe("iteration_limit");
  });
});

describe("starting", () => {
  test("the same client_turn_id is the same turn, one after the other and at once", async () => {
    const server = greeting();
    const sessionId = await startSession(server);
    const request = { sessionId, userInput: "hi", clientTurnId: "turn-1" };
    const first = await Promise.all([1, 2, 3].map(() => server.client.startTurn(request)));
    const again = await server.client.startTurn(request);
    const ids = new Set([...first, again].map(({ turnId }) => turnId));
    expect(ids.size).toBe(1);
    expect([...first, again].filter(({ alreadyStarted }) => !alreadyStarted)).toHaveLength(1);
    expect(again.afterSeq).toBe(first[0]?.afterSeq);

    const events = await runTurn(server, sessionId, "hi", { clientTurnId: "turn-1" });
    expect(events[0]?.turnId).toBe(again.turnId);
    expect(endState(events)).toBe("COMPLETED");
    expect(eventsOf(await allEvents(server, sessionId), "userMessage")).toHaveLength(1);
  });

  test("the id is still known after a restart", async () => {
    await using server = await startTestServer({ script: hello });
    const sessionId = await startSession(server);
    const before = await runTurn(server, sessionId, "hi", { clientTurnId: "turn-1" });
    await server.restart();
    const after = await runTurn(server, sessionId, "hi", { clientTurnId: "turn-1" });
    expect(after.map(({ seq }) => seq)).toContain(before.at(-1)?.seq);
    expect(eventsOf(await allEvents(server, sessionId), "userMessage")).toHaveLength(1);
  });

  test("a second turn at once is refused and leaves the first alone", async () => {
    await using server = await startTestServer({ steps: [{ delay_ms: 1_000 }, { text: ["Done."] }] });
    const sessionId = await startSession(server);
    const running = runTurn(server, sessionId, "first", { clientTurnId: "one" });
    await using watcher = await Watcher.attach(server, sessionId);
    await watcher.next("userMessage");
    const refused = await refusalOf(server.client.startTurn({ sessionId, userInput: "second", clientTurnId: "two" }));
    expect(refused).toMatchObject({ code: "failed_precondition", info: "failed_precondition" });
    expect(refused.hint).toContain("stop it");
    expect(await codeOf(runTurn(server, sessionId, "third"))).toBe("failed_precondition");
    expect(endState(await running)).toBe("COMPLETED");
  });

  test("the next turn can start as soon as the last one has said that it ended", async () => {
    const server = greeting();
    const sessionId = await startSession(server);
    for (let turn = 0; turn < 10; turn++) {
      expect(endState(await runTurn(server, sessionId, `turn ${turn}`))).toBe("COMPLETED");
    }
  });

  const image = samplePng();
  test.each([
    ["no id", { clientTurnId: "" }, "invalid_argument"],
    ["an id with a space", { clientTurnId: "a b" }, "invalid_argument"],
    ["an id of 129 characters", { clientTurnId: "a".repeat(129) }, "invalid_argument"],
    ["no words", { userInput: " \n" }, "invalid_argument"],
    ["more than a million characters", { userInput: "a".repeat(1024 * 1024 + 1) }, "invalid_argument"],
    ["a scenario nobody wrote", { scenario: "NOPE" }, "not_found"],
    ["a scenario that is a property of every object", { scenario: "__proto__" }, "not_found"],
    ["an image that is none", { images: [new Uint8Array([1, 2, 3])] }, "invalid_argument"],
    ["an image that is cut", { images: [image.subarray(0, 20)] }, "invalid_argument"],
    ["21 images", { images: Array.from({ length: 21 }, () => image) }, "invalid_argument"],
    ["a session that is not there", { sessionId: "00000000-0000-4000-8000-000000000000" }, "not_found"],
    ["no session", { sessionId: "" }, "not_found"],
  ])("%s is refused, and nothing is started", async (_what, wrong, code) => {
    const server = greeting();
    const sessionId = await startSession(server);
    const request = { sessionId, userInput: "hi", clientTurnId: "turn-1", ...wrong };
    expect(await refusalOf(server.client.startTurn(request))).toMatchObject({ code, info: code });
    expect(
      await codeOf(
        runTurn(server, request.sessionId, request.userInput, {
          ...request,
          clientTurnId: request.clientTurnId || "x y",
        }),
      ),
    ).toBe(code);
    expect(eventsOf(await allEvents(server, sessionId), "userMessage")).toEqual([]);
    // And the session still works.
    expect(endState(await runTurn(server, sessionId, "hi"))).toBe("COMPLETED");
  });

  test("an image is a blob that the session can be asked for", async () => {
    const server = greeting();
    const sessionId = await startSession(server);
    const events = await runTurn(server, sessionId, "look", { images: [image] });
    const [blob] = eventOf(events, "userMessage").images;
    expect(blob).toMatchObject({ mediaType: "image/png", size: BigInt(image.length) });
    const { content } = await server.client.getBlob({ sessionId, sha256: blob?.sha256 ?? "" });
    expect(content).toEqual(image);
  });
});

test("large outputs are blobs: the event has their beginning, the session the whole, no other session anything", async () => {
  const text = Array.from({ length: 1500 }, (_, line) => `line ${line} is here to be read`).join("\n");
  await using server = await startTestServer({
    files: { "big.txt": text },
    steps: [call("Read", { file_path: "big.txt" }), { text: ["Long."] }],
  });
  const sessionId = await startSession(server);
  const result = eventOf(await runTurn(server, sessionId, "read it"), "toolResult");
  const sha256 = result.outputBlob?.sha256 ?? "";
  expect(result.output.length).toBeLessThan(16 * 1024);
  const { content } = await server.client.getBlob({ sessionId, sha256 });
  const whole = new TextDecoder().decode(content);
  expect(BigInt(content.byteLength)).toBe(result.outputBlob?.size);
  expect(whole.startsWith(result.output)).toBe(true);
  expect(whole).toContain("line 1499 is here");

  const other = await startSession(server);
  expect(await refusalOf(server.client.getBlob({ sessionId: other, sha256 }))).toMatchObject({ code: "not_found" });
  expect(await codeOf(server.client.getBlob({ sessionId, sha256: "0".repeat(64) }))).toBe("not_found");
  expect(await codeOf(server.client.getBlob({ sessionId, sha256: sha256.toUpperCase() }))).toBe("invalid_argument");
  expect(await codeOf(server.client.getBlob({ sessionId, sha256: "../../ledger-key" }))).toBe("invalid_argument");
});

test("settings of the session decide the mode of the next turn", async () => {
  const server = greeting();
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "one");
  await server.client.setSettings({ sessionId, settings: { editingMode: EditingMode.PROPOSAL } });
  const events = await runTurn(server, sessionId, "two");
  expect(eventOf(events, "userMessage").scenario).toBe("EDITOR_CODE");
});
