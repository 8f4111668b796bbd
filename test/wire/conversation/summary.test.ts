import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { cachedSequence, call, type Format, formats, wireWorld } from "../wire-world.ts";

const files = { "a.txt": "one\n" };

/** A conversation of two turns, compacted: requests for its summary, and what the model then had. */
async function compacted(format: Format, summaries: readonly ModelAnswer[]) {
  const answers: readonly ModelAnswer[] = [
    { calls: [call("c1", "Write", { file_path: "a.txt", content: "two\n" })] },
    { text: ["Not read."] },
    { text: ["Hello."] },
    ...summaries,
    { text: ["Going on."] },
  ];
  await using world = await wireWorld(format, answers, { files });
  const { server, provider } = world;
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "write", { enableThinking: true });
  await runTurn(server, sessionId, "hello", { enableThinking: true });
  await server.client.compactSession({ sessionId });
  const events = await runTurn(server, sessionId, "go on", { enableThinking: true });
  expect(endState(events)).toBe("COMPLETED");
  const { requests } = provider;
  const [kept] = (await server.running.manager.get(sessionId)).state.conversation.messages;
  const warnings = eventsOf(events, "warning");
  return { requests, asked: requests.slice(3, -1), kept: kept?.role === "note" ? kept.text : "", warnings };
}

type Body = Readonly<Record<string, unknown>>;

/** Where each says how hard to think, and how long an answer may be. */
const limits: Readonly<Record<Format, (body: Body) => unknown>> = {
  "openai-compatible": ({ reasoning_effort, max_tokens }) => ({ reasoning_effort, max_tokens }),
  openai: ({ reasoning, max_output_tokens }) => ({ reasoning, max_output_tokens }),
  // Another effort would have the conversation read anew.
  anthropic: ({ thinking, max_tokens }) => ({ thinking, max_tokens }),
  gemini: ({ generationConfig }) => generationConfig,
};
const wanted: Readonly<Record<Format, unknown>> = {
  "openai-compatible": { reasoning_effort: "low", max_tokens: undefined },
  openai: { reasoning: { effort: "low", summary: "auto" }, max_output_tokens: undefined },
  anthropic: { thinking: { type: "enabled", budget_tokens: 16_000 }, max_tokens: 40_000 },
  gemini: { thinkingConfig: { thinkingLevel: "low", includeThoughts: true } },
};

test.each(formats)("%s: a summary is asked for by what its provider has in its cache", async (format) => {
  const { requests, asked, kept } = await compacted(format, [{ text: ["They said hello."] }]);
  expect(asked).toHaveLength(1);
  const [before, request] = [requests[1], asked[0]];
  if (before === undefined || request === undefined) throw new Error("Nothing was asked.");
  const sequence = cachedSequence(format, before);
  expect(cachedSequence(format, request).slice(0, sequence.length)).toEqual(sequence);
  expect(limits[format](request.body)).toEqual(wanted[format]);
  expect(kept).toContain("They said hello.");
  // What is refused until the file is read is no refusal that holds.
  expect(JSON.stringify(requests[1]?.body)).toContain("not_read");
  expect(kept).not.toContain("Each refusal still holds");
  expect(kept).toMatch(/may be made again after what it says:\n- Write [^\n]*a\.txt/);
});

test.each<[string, ModelAnswer]>([
  ["cut", { text: ["They sa"], finish: "length" }],
  ["empty", { thinking: ["Hm."] }],
  ["a call", { text: ["I look."], calls: [call("c9", "Bash", { command: "touch made.txt" })] }],
])("a summary that is %s is asked for once more, and nothing runs", async (_what, first) => {
  const { asked, kept } = await compacted("openai-compatible", [first, { text: ["They said hello."] }]);
  expect(asked).toHaveLength(2);
  expect(JSON.stringify(asked[1]?.body)).toContain("<conversation>");
  expect(kept).toContain("They said hello.");
  expect(kept).not.toMatch(/They sa\b|I look/);
});

test("what is left of summaries that were cut says so", async () => {
  const cut = { text: ["They sa"], finish: "length" };
  const { kept } = await compacted("openai-compatible", [cut, cut]);
  expect(kept).toContain("They sa [The summary was cut off here.]");
});
