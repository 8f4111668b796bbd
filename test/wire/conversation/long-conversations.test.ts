import { Effort } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { CompactionReason } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { describe, expect, test } from "vitest";
import { endState, eventOf, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, type Format, formats, wireWorld } from "../wire-world.ts";

const asksForSummary = ({ body }: ReceivedModelRequest) =>
  JSON.stringify(body).includes("Summarise this conversation.");

/** What a model of each format takes, by the catalogue or by its server: the sizes on the providers' pages, as in `model-facts.test.ts`. */
const sizes: readonly (readonly [Format, string, number])[] = [
  ["anthropic", "claude-haiku-4-5", 200_000],
  ["openai", "gpt-5", 272_000],
  // vLLM says what it gives the model; no catalogue lists it.
  ["openai-compatible", "of-my-own", 65_536],
  ["gemini", "gemini-robotics-er-2-preview", 131_072],
];

test.each(sizes)(
  "%s: a conversation with %s is made shorter before its %i tokens are full",
  async (format, model, size) => {
    const nearlyFull = { inputTokens: Math.floor(size * 0.81), outputTokens: 10 };
    let sent = 0;
    await using world = await wireWorld(
      format,
      (_count, request) => {
        if (asksForSummary(request)) return { text: ["They said hello."] };
        sent += 1;
        if (sent === 3) return { calls: [call("c1", "LS", { path: "." })], usage: nearlyFull };
        return { text: ["Hello."] };
      },
      { model, models: [{ id: model, max_model_len: size }] },
    );
    const sessionId = await startSession(world.server);
    await runTurn(world.server, sessionId, "hello");
    // More than what stays as it is.
    await runTurn(world.server, sessionId, "word ".repeat(size * 0.25));
    const events = await runTurn(world.server, sessionId, "what is here?");
    expect(endState(events)).toBe("COMPLETED");
    expect(eventOf(events, "conversationCompacted").reason).toBe(CompactionReason.LIMIT);
    expect(eventOf(events, "final").usage?.maxContextTokens).toBe(size);
    const summaries = world.provider.requests.map(asksForSummary);
    expect(summaries).toEqual([false, false, false, true, false]);
  },
);

test("a window in which not even the first request fits is told of before the first answer", async () => {
  await using world = await wireWorld("openai-compatible", [{ text: ["Hello."] }], {
    model: "of-my-own",
    models: [{ id: "of-my-own", max_model_len: 3_072 }],
  });
  const events = await runTurn(world.server, await startSession(world.server), "hello");
  expect(endState(events)).toBe("COMPLETED");
  const kinds = events.flatMap(({ event }) =>
    event.case === "warning" || event.case === "assistantDelta" ? [event] : [],
  );
  expect(kinds[0]).toMatchObject({ case: "warning", value: expect.stringContaining("context is small: 3,072 tokens") });
});

describe.each(formats)("%s", (format) => {
  test("an overflow is answered by a shorter conversation, and the turn goes on", async () => {
    let overflowed = false;
    await using world = await wireWorld(format, (count, request) => {
      if (asksForSummary(request)) return { text: ["They said hello."] };
      if (count !== 2) return { text: ["Hello."] };
      overflowed = true;
      return { status: 400, message: "prompt is too long: 300000 tokens" };
    });
    const sessionId = await startSession(world.server);
    await runTurn(world.server, sessionId, "hello");
    const events = await runTurn(world.server, sessionId, "and now?");
    expect(endState(events)).toBe("COMPLETED");
    expect(overflowed).toBe(true);
    expect(eventsOf(events, "conversationCompacted").at(-1)?.reason).toBe(CompactionReason.OVERFLOW);
    expect(world.provider.requests.map(asksForSummary)).toEqual([false, false, true, false]);
  });

  test("how hard to think and how long an answer may be are sent as it wants them", async () => {
    await using world = await wireWorld(format, [{ text: ["Hello."] }]);
    const sessionId = await startSession(world.server, { settings: { effort: Effort.HIGH, maxTokens: 4_000 } });
    await runTurn(world.server, sessionId, "hello", { enableThinking: true });
    expect(efforts[format](world.provider.requests[0]?.body ?? {})).toEqual(wanted[format]);
  });
});

type Body = Readonly<Record<string, unknown>>;

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking, https://platform.openai.com/docs/guides/reasoning, https://ai.google.dev/gemini-api/docs/thinking */
const efforts: Readonly<Record<Format, (body: Body) => unknown>> = {
  "openai-compatible": ({ reasoning_effort, max_tokens }) => ({ reasoning_effort, max_tokens }),
  openai: ({ reasoning, max_output_tokens }) => ({ reasoning, max_output_tokens }),
  anthropic: ({ thinking, max_tokens }) => ({ thinking, max_tokens }),
  gemini: ({ generationConfig }) => generationConfig,
};

const wanted: Readonly<Record<Format, unknown>> = {
  "openai-compatible": { reasoning_effort: "high", max_tokens: 4_000 },
  openai: { reasoning: { effort: "high", summary: "auto" }, max_output_tokens: 4_000 },
  anthropic: { thinking: { type: "enabled", budget_tokens: 2_400 }, max_tokens: 4_000 },
  gemini: { maxOutputTokens: 4_000, thinkingConfig: { thinkingLevel: "high", includeThoughts: true } },
};
