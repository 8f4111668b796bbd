import { Effort } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { describe, expect, test } from "vitest";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { type Format, list, wireWorld } from "../wire-world.ts";

const extra = (field: string, body: unknown) =>
  JSON.stringify({
    detail: [{ type: "extra_forbidden", loc: ["body", field], msg: "Extra inputs are not permitted", input: body }],
  });

describe("a server that does not take a field is asked without it, and no second time with it", () => {
  test.each<readonly [Format, string, (request: ReceivedModelRequest) => Omit<ModelRefusal, "status"> | undefined]>([
    // The form of https://fastapi.tiangolo.com/tutorial/handling-errors/, as servers with a strict model of a request have it.
    [
      "openai-compatible",
      "stream_options",
      ({ body }) =>
        "stream_options" in body ? { message: "", body: extra("stream_options", body["stream_options"]) } : undefined,
    ],
    // https://platform.openai.com/docs/api-reference/chat/create#chat-create-max_completion_tokens
    [
      "openai-compatible",
      "max_tokens, but max_completion_tokens",
      ({ body }) =>
        "max_tokens" in body || body["max_completion_tokens"] !== 900
          ? {
              message:
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            }
          : undefined,
    ],
    [
      "openai-compatible",
      "max_tokens",
      ({ body }) => ("max_tokens" in body ? { message: "", body: extra("max_tokens", 900) } : undefined),
    ],
    // https://console.groq.com/docs/reasoning
    [
      "openai-compatible",
      "an effort of these values",
      ({ body }) =>
        "reasoning_effort" in body ? { message: "`reasoning_effort` must be one of `none` or `default`" } : undefined,
    ],
    // https://help.openai.com/en/articles/10910291-api-organization-verification
    [
      "openai",
      "reasoning summaries",
      ({ body }) =>
        JSON.stringify(body["reasoning"] ?? {}).includes("summary")
          ? { message: "Your organization must be verified to generate reasoning summaries." }
          : undefined,
    ],
  ])("%s: %s", async (format, field, refuse) => {
    let refused = 0;
    await using world = await wireWorld(
      format,
      (_count, request): ModelAnswer | ModelRefusal => {
        const refusal = refuse(request);
        if (refusal === undefined) return { text: ["Hello."] };
        refused += 1;
        return { status: 400, ...refusal };
      },
      format === "openai" ? {} : { model: `without ${field}` },
    );
    const sessionId = await startSession(world.server, { settings: { maxTokens: 900, effort: Effort.HIGH } });
    for (const text of ["hello", "and now?"])
      expect(endState(await runTurn(world.server, sessionId, text, { enableThinking: true }))).toBe("COMPLETED");
    expect(refused).toBe(1);
  });
});

// https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning: the sequence of an answer goes back as it came.
test("what OpenRouter's providers signed goes back to them, in its order", async () => {
  const details = [
    { type: "reasoning.text", text: "Think", format: "google-gemini-v1", index: 0 },
    { type: "reasoning.text", text: " twice.", format: "google-gemini-v1", index: 0, signature: null },
    { type: "reasoning.encrypted", data: "RW5jMQ==", id: "c1", format: "google-gemini-v1", index: 0 },
    { type: "reasoning.encrypted", data: "RW5jMg==", id: "c2", format: "google-gemini-v1", index: 0 },
  ];
  const wanted = [{ ...details[0], text: "Think twice." }, ...details.slice(2)];
  const calls = ["c1", "c2"].map((id, index) => ({
    index,
    id,
    type: "function",
    function: { name: "Read", arguments: '{"file_path":"a.txt"}' },
  }));
  const answers = [
    ...[
      { reasoning: "Think", reasoning_details: [details[0]] },
      { reasoning: " twice.", reasoning_details: [details[1]] },
    ],
    ...calls.map((call, index) => ({ content: "", tool_calls: [call], reasoning_details: [details[2 + index]] })),
  ].map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
  const frames = [...answers, { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }];
  const raw = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
  const sent: unknown[] = [];
  await using world = await wireWorld(
    "openai-compatible",
    (count, { body }) => {
      if (count === 1) return { status: 200, message: "", body: raw, headers: { "content-type": "text/event-stream" } };
      const made = list(body["messages"]).find((message) => JSON.stringify(message).includes("tool_calls"));
      sent.push(made);
      return { text: ["Done."] };
    },
    { model: "google/gemini-3-pro-preview", files: { "a.txt": "one\n" } },
  );
  const sessionId = await startSession(world.server);
  expect(endState(await runTurn(world.server, sessionId, "Look", { enableThinking: true }))).toBe("COMPLETED");
  await world.server.restart();
  expect(endState(await runTurn(world.server, sessionId, "Bye", { enableThinking: true }))).toBe("COMPLETED");
  expect(sent).toHaveLength(2);
  for (const message of sent) {
    expect(message).toMatchObject({ reasoning_details: wanted });
    expect(message).not.toHaveProperty("reasoning_content");
  }
});
