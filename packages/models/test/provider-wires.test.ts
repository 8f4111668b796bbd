import type { Message, Model, ModelEvent, ModelRequest } from "@gennai/agent/model";
import { answerUsage } from "@gennai/testkit/model-server/model-answer";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { describe, expect, it } from "vitest";
import { quickMakers } from "./makers.ts";
import { testEndpoint } from "./test-endpoint.ts";

const key = "key-0123456789abcdef";

const makers = quickMakers(20_000);

type Backend = Exclude<keyof typeof makers, "ollama">;
const backends = ["openai-compatible", "openai", "anthropic", "gemini"] as const satisfies readonly Backend[];

const models: Readonly<Record<Backend, string>> = {
  "openai-compatible": "qwen3",
  openai: "gpt-5",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-3-pro-preview",
};

/** As the test server's answers name the model; Gemini's do not. */
const answering: Readonly<Partial<Record<Backend, string>>> = {
  "openai-compatible": "m",
  openai: "gpt-test",
  anthropic: "claude-test",
};

const readCall = { id: "call_1", name: "Read", arguments: { path: "src/main.ts" } };
const listCall = { id: "call_2", name: "Ls", arguments: { path: "." } };
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

const tools: ModelRequest["tools"] = [
  {
    name: "Read",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

function request(messages: readonly Message[], enableThinking = true): ModelRequest {
  return { system: "Be brief.", messages, tools, enableThinking, maxOutputTokens: 0 };
}

async function ask(model: Model, messages: readonly Message[], enableThinking = true): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of model.stream(request(messages, enableThinking), { signal })) events.push(event);
  return events;
}

/** What an answer comes to, without how it was cut into pieces and what only its provider understands. */
function gist(events: readonly ModelEvent[]) {
  const joined = (type: "thinking-delta" | "text-delta") =>
    events.flatMap((event) => (event.type === type ? [event.text] : [])).join("");
  return {
    thinking: joined("thinking-delta"),
    text: joined("text-delta"),
    calls: events.flatMap((event) =>
      event.type === "tool-call"
        ? [{ id: event.id, name: event.name, arguments: JSON.parse(event.argumentsJson) as unknown }]
        : [],
    ),
    rest: events.filter((event) => event.type === "usage" || event.type === "finish"),
  };
}

describe.each(backends)("%s", (backend) => {
  const serve = (...answers: Parameters<typeof startModelServer>[1][]) => {
    const [answer] = answers;
    if (answer === undefined) throw new Error("no answer");
    return startModelServer(modelWires[backend], answer);
  };
  const connect = (baseUrl: string) => makers[backend](testEndpoint({ baseUrl, model: models[backend], apiKey: key }));

  it("gives the same events for the same answer", async () => {
    await using server = await serve(() => ({
      thinking: ["Let me ", "look."],
      text: ["I will ", "read it."],
      calls: [readCall, listCall],
    }));
    const model = connect(server.baseUrl);

    const events = await ask(model, [{ role: "user", text: "What is in it?" }]);

    expect(gist(events)).toEqual({
      thinking: "Let me look.",
      text: "I will read it.",
      calls: [readCall, listCall],
      rest: [
        { type: "usage", ...answerUsage },
        {
          type: "finish",
          reason: "tool-calls",
          ...(answering[backend] === undefined ? {} : { responseModel: answering[backend] }),
        },
      ],
    });
  });

  it("takes calls whose ids another model made, with their results", async () => {
    await using server = await serve(() => ({ text: ["Done."] }));
    const odd = ["functions.Bash:0", "x".repeat(65), "call_fine-1"];
    await ask(connect(server.baseUrl), [
      { role: "user", text: "Go" },
      { role: "assistant", text: "", toolCalls: odd.map((id) => ({ id, name: "Read", argumentsJson: "{}" })) },
      ...odd.map((id): Message => ({ role: "tool", id, name: "Read", output: "a", isError: false })),
    ]);
    const found: string[] = [];
    JSON.stringify(server.requests[0]?.body, (key, value: unknown) => {
      const isId = ["id", "tool_call_id", "tool_use_id", "call_id"].includes(key);
      if (isId && typeof value === "string") found.push(value);
      return value;
    });
    const [calls, results] = [found.slice(0, 3), found.slice(3)];
    expect(results).toEqual(calls);
    if (backend === "openai-compatible") expect(calls).toEqual(odd);
    if (backend === "anthropic" || backend === "openai") {
      expect(calls[2]).toBe("call_fine-1");
      expect(new Set(calls).size).toBe(3);
      for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    }
  });

  it("sends no half characters of a call, which a provider would refuse for good", async () => {
    await using server = await serve(() => ({ text: ["Done."] }));
    const argumentsJson = JSON.stringify({ path: "a\ud83d.ts", more: { inside: ["\ude00"] } });
    await ask(connect(server.baseUrl), [
      { role: "user", text: "Go" },
      { role: "assistant", text: "", toolCalls: [{ id: "call_1", name: "Read", argumentsJson }] },
      { role: "tool", id: "call_1", name: "Read", output: "a", isError: false },
    ]);
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain("a\ufffd.ts");
    expect(sent).not.toMatch(/\\u(?:d83d|de00)/);
  });

  it("sends what was said, called and seen, and its own thinking back to it", async () => {
    await using server = await serve((count) =>
      count === 1 ? { thinking: ["I have to read."], calls: [readCall] } : { text: ["Done."] },
    );
    const model = connect(server.baseUrl);
    const user: Message = { role: "user", text: "What is in it?", images: [png] };
    const first = await ask(model, [user]);
    const calls = first.flatMap((event) => (event.type === "tool-call" ? [event] : []));
    const messages: Message[] = [
      user,
      { role: "assistant", text: "", toolCalls: calls },
      { role: "tool", id: readCall.id, name: "Read", output: "the file's words", isError: false },
    ];

    const second = await ask(model, messages);

    expect(gist(second).text).toBe("Done.");
    const sent = JSON.stringify(server.requests[1]?.body);
    for (const words of ["Be brief.", "What is in it?", "src/main.ts", "the file's words", "Reads a file."]) {
      expect(sent).toContain(words);
    }
    expect(sent).toContain(png.toString("base64"));
    const signature = { openai: "ZW5jcnlwdGVk", anthropic: "c2lnbmVkIHRoaW5raW5n", gemini: "c2lnbmVkIHRoaW5raW5n" };
    if (backend !== "openai-compatible") expect(sent).toContain(signature[backend]);
    // Another model must not be shown what only this one can read.
    const other = makers[backend](testEndpoint({ baseUrl: server.baseUrl, model: "another-model-1", apiKey: key }));
    await ask(other, messages);
    expect(JSON.stringify(server.requests[2]?.body)).not.toMatch(/ZW5jcnlwdGVk|c2lnbmVkIHRoaW5raW5n/);
  });

  it("refuses a wrong key with a hint, and never tells it", async () => {
    await using server = await serve(() => ({ status: 401, message: `the key ${key} is wrong` }));
    const error: unknown = await ask(connect(server.baseUrl), [{ role: "user", text: "hi" }]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "unauthorized" });
    expect(String(error)).not.toContain(key);
  });

  it("names a conversation that is too long", async () => {
    await using server = await serve(() => ({ status: 400, message: "prompt is too long: 300000 tokens" }));
    await expect(ask(connect(server.baseUrl), [{ role: "user", text: "hi" }])).rejects.toMatchObject({
      code: "context_overflow",
    });
  });
});
