import { setTimeout as wait } from "node:timers/promises";
import type { Message, Model, ModelEvent } from "@gennai/agent/model";
import { describe, expect, it } from "vitest";
import { createOpenAICompatibleModel } from "#openai-compatible";
import { begin, delta, fail, type Handler, sse, startChatServer } from "./chat-server.ts";
import { requestWith } from "./request-with.ts";
import { testEndpoint } from "./test-endpoint.ts";

const key = "sk-test-0123456789abcdef";
const quick = { firstDelay: 1, longestDelay: 5, silence: 20_000 };

async function ask(
  model: Model,
  options: {
    messages?: readonly Message[];
    thinking?: boolean;
    effort?: "high";
    signal?: AbortSignal;
    onEvent?: () => void;
  } = {},
) {
  const request = requestWith({
    system: "Be brief.",
    messages: options.messages ?? [{ role: "user" as const, text: "hi" }],
    tools: [
      {
        name: "Read",
        description: "Reads.",
        inputSchema: { type: "object", properties: { file_path: { type: "string" } } },
      },
    ],
    enableThinking: options.thinking ?? true,
    ...(options.effort === undefined ? {} : { effort: options.effort }),
    maxOutputTokens: 64,
  });
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, { signal: options.signal ?? new AbortController().signal })) {
    events.push(event);
    options.onEvent?.();
  }
  return events;
}

function connect(baseUrl: string, timing = {}, apiKey = key) {
  return createOpenAICompatibleModel("openai-compatible", testEndpoint({ model: "m", baseUrl, apiKey }), {
    ...quick,
    ...timing,
  });
}

const ok: Handler = (response) => {
  begin(response).end(sse(delta({ content: "ok" }), delta({}, "stop"), "[DONE]"));
};

describe("openai-compatible", () => {
  it("streams reasoning, text and usage, however the bytes are cut", async () => {
    const text = sse(
      delta({ role: "assistant", reasoning_content: "Hm, " }),
      delta({ reasoning_content: "só." }),
      delta({ content: "Grüße " }),
      delta({ content: "😀" }),
      delta({}, "stop"),
      { ...delta({}), choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
      "[DONE]",
    );
    await using server = await startChatServer(async (response) => {
      begin(response);
      const bytes = Buffer.from(text);
      for (let start = 0; start < bytes.length; start += 37) {
        response.write(bytes.subarray(start, start + 37));
        await wait(0);
      }
      response.end();
    });
    const model = connect(server.baseUrl);
    expect(model.id).toBe("openai-compatible/m");
    const joined = [
      { type: "thinking-delta", text: "Hm, " },
      { type: "thinking-delta", text: "só." },
      { type: "text-delta", text: "Grüße " },
      { type: "text-delta", text: "😀" },
      { type: "usage", inputTokens: 7, outputTokens: 3 },
      { type: "finish", reason: "stop", responseModel: "m" },
    ];
    expect(await ask(model)).toEqual(joined);
    expect(await ask(model, { thinking: false })).toEqual(joined.slice(2));
  });

  it("puts parallel tool calls together from fragments", async () => {
    const piece = (index: number, fields: Record<string, unknown>, args: string) =>
      delta({
        tool_calls: [
          { index, ...fields, function: { ...(fields["id"] === undefined ? {} : { name: "Read" }), arguments: args } },
        ],
      });
    await using server = await startChatServer((response) => {
      begin(response).end(
        sse(
          piece(0, { id: "a", type: "function" }, ""),
          piece(0, {}, '{"file_'),
          piece(1, { id: "b", type: "function" }, '{"file_path":'),
          piece(0, {}, 'path":"x"}'),
          piece(1, {}, '"y"}'),
          delta({}, "tool_calls"),
          "[DONE]",
        ),
      );
    });
    const events = await ask(connect(server.baseUrl));
    expect(events.filter((event) => event.type === "tool-call")).toEqual([
      { type: "tool-call", id: "a", name: "Read", argumentsJson: '{"file_path":"x"}' },
      { type: "tool-call", id: "b", name: "Read", argumentsJson: '{"file_path":"y"}' },
    ]);
    for (const id of ["a", "b"]) {
      const pieces = events.flatMap((event) =>
        event.type === "tool-call-delta" && event.id === id ? [event.text] : [],
      );
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join("")).toBe(`{"file_path":"${id === "a" ? "x" : "y"}"}`);
    }
    expect(events.filter((event) => event.type === "tool-call-start")).toHaveLength(2);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "tool-calls", responseModel: "m" });
  });

  const failures: readonly [
    name: string,
    handler: Handler,
    wanted: { code: string; retryable?: boolean; message?: RegExp; hint?: RegExp },
    requests?: number,
  ][] = [
    ["403", (response) => fail(response, 403, "no"), { code: "unauthorized" }],
    [
      "404",
      (response) => fail(response, 404, "model not found"),
      { code: "not_configured", message: /"m"/, hint: /name of the model/ },
    ],
    [
      "429 with a long wait",
      (response) => fail(response, 429, "slow down", { "retry-after": "7200" }),
      { code: "rate_limited", hint: /7200 s/ },
    ],
    [
      "garbage in the stream",
      (response) => void begin(response).end(sse(delta({ content: "a" }), "{not json")),
      { code: "unreachable", retryable: true },
      3,
    ],
    ["JSON of another kind", (response) => void begin(response).end(sse({ hello: 1 })), { code: "bad_response" }],
    [
      "an error inside the stream",
      (response) =>
        void begin(response).end(
          sse(delta({ content: "a" }), { error: { message: `overloaded ${key}`, type: "overloaded_error" } }),
        ),
      { code: "rate_limited" },
      10,
    ],
  ];

  it.each(failures)("explains %s", async (_name, handler, wanted, requests = 1) => {
    await using server = await startChatServer(handler);
    const error = await ask(connect(server.baseUrl)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "ModelError",
      code: wanted.code,
      ...(wanted.retryable === undefined ? {} : { retryable: wanted.retryable }),
    });
    if (wanted.message !== undefined) expect(error).toMatchObject({ message: expect.stringMatching(wanted.message) });
    if (wanted.hint !== undefined) expect(error).toMatchObject({ hint: expect.stringMatching(wanted.hint) });
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(key);
    expect(server.requests).toHaveLength(requests);
  });

  it("waits by itself where it is told to come back at once", async () => {
    await using server = await startChatServer((response, request, count) =>
      count === 1 ? fail(response, 429, "slow down", { "retry-after": "0" }) : ok(response, request, count),
    );
    const model = connect(server.baseUrl, { firstDelay: 20_000, longestDelay: 20_000 });
    const request = requestWith({ messages: [] });
    let waited = "";
    for await (const event of model.stream(request, { signal: new AbortController().signal })) {
      if (event.type === "waiting") waited = event.reason;
      break;
    }
    expect(waited).toMatch(/Asking again in (?:1\d|20) s/);
  });

  it.each([
    ["milliseconds that are none", { "retry-after-ms": "soon", "retry-after": "30" }, /again in (?:29|30) s/],
    ["milliseconds without a number", { "retry-after-ms": "", "retry-after": "30" }, /again in (?:29|30) s/],
  ])("waits as it is told: %s", async (_name, headers, wanted) => {
    await using server = await startChatServer((response) => fail(response, 429, "slow down", headers));
    const model = connect(server.baseUrl, { firstDelay: 20_000, longestDelay: 20_000 });
    const request = requestWith({ messages: [] });
    let waited = "";
    for await (const event of model.stream(request, { signal: new AbortController().signal })) {
      if (event.type === "waiting") waited = event.reason;
      break;
    }
    expect(waited).toMatch(wanted);
  });

  it("learns how a server wants it from two requests that are refused at once", async () => {
    const both = Promise.withResolvers<void>();
    await using server = await startChatServer(async (response, request, count) => {
      if (count === 2) both.resolve();
      await both.promise;
      if ("reasoning_effort" in request.body) return fail(response, 400, "`reasoning_effort` is not supported");
      return ok(response, request, count);
    });
    const answers = await Promise.all([1, 2].map(() => ask(connect(server.baseUrl), { effort: "high" })));
    for (const answer of answers) expect(answer).toContainEqual({ type: "text-delta", text: "ok" });
    expect(server.requests).toHaveLength(4);
  });

  it("does not take a slow reader for a silent server", async () => {
    await using server = await startChatServer(ok);
    const model = connect(server.baseUrl, { silence: 150 });
    const request = requestWith();
    let last = "";
    for await (const event of model.stream(request, { signal: new AbortController().signal })) {
      await wait(250);
      last = event.type;
    }
    expect(last).toBe("finish");
  });

  it.each([
    [
      "in the middle of an answer",
      (response: Parameters<Handler>[0]) => void begin(response).write(sse(delta({ content: "a" }))),
    ],
    ["before the answer", () => undefined],
    [
      "while it waits to try again",
      (response: Parameters<Handler>[0]) => fail(response, 429, "slow", { "retry-after": "20" }),
    ],
  ])("ends at once when aborted %s", async (_name, handler) => {
    await using server = await startChatServer(handler);
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("stopped by the user")), 100);
    const start = performance.now();
    await expect(ask(connect(server.baseUrl), { signal: controller.signal })).rejects.toThrow("stopped by the user");
    expect(performance.now() - start).toBeLessThan(1_500);
  });

  it("closes the connection when its reader walks away", async () => {
    await using server = await startChatServer((response) => void begin(response).write(sse(delta({ content: "a" }))));
    const request = requestWith();
    for await (const _ of connect(server.baseUrl).stream(request, { signal: new AbortController().signal })) break;
    await expect.poll(() => server.closed()).toBe(1);
  });

  it("sends no authorization without a key", async () => {
    await using server = await startChatServer(ok);
    await ask(connect(server.baseUrl, {}, ""));
    expect(server.requests[0]?.authorization).toBeUndefined();
  });
});
