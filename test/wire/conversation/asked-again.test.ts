import { UserQuestionEnd } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { expect, test } from "vitest";
import { endState, runTurn, startSession, Watcher } from "../../e2e/rpc/session-client.ts";
import { call, expectPrefixes, formats, wireWorld } from "../wire-world.ts";

const asks = call("ask", "AskUser", {
  questions: [{ question: "Which?", options: [{ label: "red" }, { label: "blue" }] }],
});
const answers: readonly ModelAnswer[] = [
  { thinking: ["Their choice."], text: ["I ask."], calls: [call("read", "Read", { file_path: "a.txt" }), asks] },
  { text: ["Blue it is."] },
  { text: ["Still blue."] },
];

test.each(formats)(
  "%s: a question that waited when the server ended is asked again, and its answer goes behind the call that asked",
  async (format) => {
    await using world = await wireWorld(format, answers, { files: { "a.txt": "one\n" } });
    const { server, provider } = world;
    const { client } = server;
    const sessionId = await startSession(server, { interactive: true });
    const canAsk = { capabilities: { askUser: true } };
    const begun = { sessionId, enableThinking: true };
    let waited: string;
    {
      await using window = await Watcher.attach(server, sessionId, canAsk);
      waited = (await client.startTurn({ ...begun, userInput: "Paint it", clientTurnId: "1" })).turnId;
      await window.next("userQuestionRequest");
      await server.restart();
    }
    const { cutOffTurn, session } = await client.resumeSession({ sessionId });
    expect(cutOffTurn).toMatchObject({ turnId: waited, waited: true, message: expect.stringContaining("Which?") });

    await using window = await Watcher.attach(server, sessionId, { ...canAsk, afterSeq: session?.lastSeq ?? 0n });
    const { turnId } = await client.startTurn({ ...begun, continueTurnId: waited, clientTurnId: "2" });
    const { requestId, questions } = await window.next("userQuestionRequest");
    expect(questions.map(({ question }) => question)).toEqual(["Which?"]);
    const value = { requestId, end: UserQuestionEnd.ANSWERED, answers: [{ chosen: [1], text: "" }] };
    await window.submit({ case: "userQuestionResponse", value });
    expect(await window.end(turnId)).toBe("COMPLETED");
    await server.restart();
    expect(endState(await runTurn(server, sessionId, "Sure?", { enableThinking: true }))).toBe("COMPLETED");

    // No request for the question itself: the model asked once, and was told once.
    expect(provider.requests).toHaveLength(answers.length);
    expectPrefixes(format, provider.requests);
    const told = JSON.stringify(provider.requests[1]?.body);
    expect(told).toContain("chosen: blue");
    expect(told.split("chosen: blue")).toHaveLength(2);
  },
);

test("a call that is written as text is asked for once more, and then fails the turn", async () => {
  const written = { text: ['<tool_call>\n{"name": "LS", "arguments": {"path": "."}}\n</tool_call>'] };
  const ends: unknown[] = [];
  for (const second of [written, { calls: [call("c1", "LS", { path: "." })] }]) {
    await using world = await wireWorld("openai-compatible", [written, second, { text: ["Done."] }]);
    const events = await runTurn(world.server, await startSession(world.server), "look");
    const code = events.find(({ event }) => event.case === "error")?.errorInfo?.code;
    ends.push([endState(events), code, world.provider.requests.length]);
    expect(JSON.stringify(world.provider.requests[1]?.body)).toContain("you wrote a call as text");
  }
  expect(ends).toEqual([
    ["ERROR", "answer_malformed", 2],
    ["COMPLETED", undefined, 3],
  ]);
});
