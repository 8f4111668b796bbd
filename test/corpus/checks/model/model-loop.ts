import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { providerWorld } from "../../../e2e/long-sessions/provider-world.ts";
import { endState, eventOf, eventsOf, runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { call } from "../../../wire/wire-world.ts";
import { type Checks, check } from "../../corpus-case.ts";

/** Texts in which models write something like calls that are no calls. */
const writtenCalls = [
  '{"name":"Bash","arguments":{"command":"touch made"}}',
  '<tool_call>{"name":"Bash","arguments":{"command":"touch made"}}</tool_call>',
  '<function_calls><invoke name="Bash"><parameter name="command">touch made</parameter></invoke></function_calls>',
  '```json\n{"tool":"Write","file_path":"made","content":"x"}\n```',
  'Action: Bash\nAction Input: {"command":"touch made"}',
  '[TOOL_CALLS][{"name":"Write","arguments":{"file_path":"made","content":"x"}}]',
];

/** Answers that say nothing, or no. */
const emptyAnswers: readonly ModelAnswer[] = [
  {},
  { text: [""] },
  { text: ["  \n"] },
  { thinking: ["I will not."] },
  { text: ["I'm sorry, but I can't help with that."] },
];

/** What a model does in its answers: rows of the group `model`. */
export const modelLoopChecks: Checks = {
  "MOD-008": check(async () => {
    const calls = ["first.txt", "second.txt"].map((file_path) => call("c1", "Write", { file_path, content: "x\n" }));
    // The chat completions format gives the second call its own id before it is shown.
    await using world = await providerWorld((count) => (count === 1 ? { calls } : { text: ["ok"] }), {
      backend: "anthropic",
    });
    const { server, provider } = world;
    const events = await runTurn(server, await startSession(server), "go");
    assert.equal(endState(events), "COMPLETED");
    assert.deepEqual([server.workspace.path("first.txt"), server.workspace.path("second.txt")].map(existsSync), [
      true,
      false,
    ]);
    const results = eventsOf(events, "toolResult");
    assert.equal(new Set(results.map(({ id }) => id)).size, 2);
    assert.equal(results.filter(({ output }) => output.includes("duplicate_call_id")).length, 1);
    assert.equal(provider.requests.length, 2);
  }),
  "MOD-009": check(async () => {
    let current: ModelAnswer = {};
    await using world = await providerWorld(() => current);
    const sessionId = await startSession(world.server);
    const go = (text: string) => {
      current = { text: [text] };
      return runTurn(world.server, sessionId, "go");
    };
    for (const text of writtenCalls) {
      const events = await go(text);
      assert.equal(limitOf(events), "answer_malformed");
      assert.equal(eventsOf(events, "toolCall").length, 0);
    }
    // Code in a fence is an answer.
    const shell = "```bash\ntouch made\n```";
    assert.equal(eventOf(await go(shell), "final").text, shell);
    assert.equal(existsSync(world.server.workspace.path("made")), false);
  }),
  "MOD-011": check(async () => {
    const calls = Array.from({ length: 1_000 }, (_, at) =>
      call(`c${at}`, "Write", { file_path: `f${at}`, content: "x" }),
    );
    {
      await using world = await providerWorld((count) => (count === 1 ? { calls } : { text: ["ok"] }));
      const sessionId = await startSession(world.server, { settings: { maxIterations: 50 } });
      const events = await runTurn(world.server, sessionId, "go");
      assert.equal(limitOf(events), "tool_call_limit");
      assert.equal(eventsOf(events, "toolResult").length, 0);
    }
    // One after the other, none like another.
    await using world = await providerWorld((count) => ({ calls: [call(`c${count}`, "LS", { path: `d${count}` })] }));
    const sessionId = await startSession(world.server, { settings: { maxIterations: 20 } });
    assert.equal(limitOf(await runTurn(world.server, sessionId, "go")), "iteration_limit");
    assert.equal(world.provider.requests.length, 20);
  }),
  "MOD-045": check(async () => {
    let current: ModelAnswer = {};
    await using world = await providerWorld(() => current);
    const sessionId = await startSession(world.server);
    const go = (answer: ModelAnswer) => {
      current = answer;
      return runTurn(world.server, sessionId, "go");
    };
    for (const answer of emptyAnswers) {
      const said = (answer.text ?? []).join("");
      const events = await go(answer);
      if (said.trim() === "") assert.equal(limitOf(events), "answer_empty");
      else assert.equal(eventOf(events, "final").text, said);
    }
    assert.equal(eventOf(await go({ text: ["Still here."] }), "final").text, "Still here.");
  }),
};

function limitOf(events: Awaited<ReturnType<typeof runTurn>>): string | undefined {
  assert.equal(endState(events), "ERROR");
  return events.find(({ event }) => event.case === "error")?.errorInfo?.code;
}
