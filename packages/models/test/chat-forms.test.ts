import { expect, test } from "vitest";
import { askAt, eventStream, rawServer } from "./every-format.ts";

const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m" };
const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const hello = chunk({ role: "assistant", content: "Hello." });
const stop = chunk({}, "stop");
const used = { prompt_tokens: 100, completion_tokens: 5 };
const read = { index: 0, id: "c1", type: "function", function: { name: "Read", arguments: '{"path":"a"}' } };
const calls = ['Read {"path":"a"}'];
const sse = (...values: readonly (object | string)[]) =>
  values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`).join("");
const done = "[DONE]";

async function ask(body: string, { hangs = false, breaks = false } = {}) {
  await using server = await rawServer((response) => {
    response.writeHead(200, eventStream);
    if (hangs) response.write(body);
    else if (breaks) response.write(body, () => response.socket?.resetAndDestroy());
    else response.end(body);
  });
  return await askAt("openai-compatible", server);
}

// What the protocol promises: https://platform.openai.com/docs/api-reference/chat-streaming/streaming. Servers differ from it in what
// nobody needs; an answer that was given, and is paid, counts.
test.each<[string, string]>([
  ["tokens without choices", sse(hello, stop, { ...head, usage: used }, done)],
  ["choices that are null", sse({ ...head, choices: null }, hello, stop, done)],
  ["a sign of life in JSON", sse({ type: "ping" }, hello, { type: "ping" }, stop, done)],
  ["a sign of life in words", sse("ping", hello, ": keep-alive", stop, done)],
  ["an event of a name of its own", `event: metrics\ndata: {"speed":3}\n\n${sse(hello, stop, done)}`],
  // https://ai.google.dev/api/generate-content#ModalityTokenCount
  [
    "details as a list",
    sse(hello, stop, chunk({}, null, { usage: { ...used, prompt_tokens_details: [{ modality: "TEXT" }] } }), done),
  ],
  [
    "tokens as text",
    sse(hello, stop, { ...head, choices: [], usage: { prompt_tokens: "100", completion_tokens: "5" } }, done),
  ],
  ["tokens as a word", sse(hello, stop, { ...head, choices: [], usage: "none" }, done)],
  ["tokens that are no numbers", sse(hello, stop, { ...head, choices: [], usage: { prompt_tokens: "many" } }, done)],
  ["another role", sse(chunk({ role: "model", content: "" }), hello, stop, done)],
  ["a role that is null", sse(chunk({ role: null, content: "Hello." }), stop, done)],
  ["thinking as an object", sse(chunk({ content: null, reasoning: { effort: "low" } }), hello, stop, done)],
  ["thinking as a list", sse(chunk({ reasoning_content: [] }), hello, stop, done)],
  ["a model and a time of another kind", sse({ ...hello, model: null, created: "now", id: 7 }, stop, done)],
  ["an end that is a number", sse(hello, { ...head, choices: [{ delta: {}, finish_reason: 0 }] }, done)],
  ["text as an object", sse(chunk({ content: { type: "text", text: "Hello." } }), stop, done)],
  ["text as a list of texts", sse(chunk({ content: ["Hel", { type: "text", text: "lo." }] }), stop, done)],
  ["no end but [DONE]", sse(hello, done)],
  ["tokens and no end", sse(hello, { ...head, choices: [], usage: used })],
  ["an end that is empty", sse(chunk({ content: "Hello." }, ""), done)],
  ["no end of its last line", sse(hello) + `data: ${JSON.stringify(stop)}`],
  ["no end of its last event", sse(hello) + `data: ${JSON.stringify(stop)}\n`],
  ["no end of [DONE]", sse(hello) + "data: [DONE]"],
  ["no empty lines", sse(hello, stop, done).replaceAll("\n\n", "\n")],
  [
    "no stream, but one object",
    JSON.stringify({ ...head, choices: [{ message: { content: "Hello." }, finish_reason: "stop" }] }, null, 2),
  ],
  [
    "a message in place of pieces",
    sse({ ...head, choices: [{ message: { content: "Hello." }, finish_reason: "stop" }] }, done),
  ],
  ["nonsense behind its end", sse(hello, stop) + 'data: {"half\n\n'],
  ["an error behind its end", sse(hello, stop, { error: { message: "cannot count tokens" } })],
])("an answer with %s counts", async (_name, body) => {
  expect(await ask(body)).toMatchObject({
    text: "Hello.",
    finish: expect.stringMatching(/stop|other/),
    error: undefined,
    requests: 1,
  });
});

test.each<[string, string]>([
  [
    "arguments as an object",
    sse(chunk({ tool_calls: [{ ...read, function: { name: "Read", arguments: { path: "a" } } }] }, "tool_calls"), done),
  ],
  ["no end but [DONE]", sse(chunk({ tool_calls: [read] }), done)],
  [
    "an index and an id of another kind",
    sse(chunk({ tool_calls: [{ ...read, index: "0", id: 7 }] }, "tool_calls"), done),
  ],
  [
    "a piece without a function behind it",
    sse(chunk({ tool_calls: [read] }), chunk({ tool_calls: [{ index: 0, function: null }] }, "tool_calls"), done),
  ],
])("a call with %s counts", async (_name, body) => {
  expect(await ask(body)).toMatchObject({ calls, finish: "tool-calls", error: undefined, requests: 1 });
});

test.each([
  ["leaves its connection open", { hangs: true }],
  ["breaks its connection", { breaks: true }],
])("an answer is over also where the server then %s", async (_name, how) => {
  expect(await ask(sse(hello, stop, done), how)).toMatchObject({ text: "Hello.", finish: "stop", requests: 1 });
});

test.each<[string, string, RegExp]>([
  ["an event of that name", 'event: error\ndata: {"message":"Too many guests","code":400}\n\n', /Too many guests/],
  // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
  ["an object that says so", sse({ object: "error", message: "No such layer", code: 400 }), /No such layer/],
  ["a choice", sse({ ...head, choices: [{ delta: {}, error: { code: 400, message: "Not today" } }] }), /Not today/],
  ["fields of FastAPI", sse({ detail: [{ loc: ["body", "top_k"], msg: "unknown" }] }), /body\.top_k: unknown/],
  ["words alone", sse({ code: "InvalidParameter", message: "Range of input length" }), /Range of input length/],
])("an error in %s is told, and nothing is asked again", async (_name, body, words) => {
  const { error, requests } = await ask(body);
  expect([error?.message, requests]).toEqual([expect.stringMatching(words), 1]);
});

test("what is said or called in no known form is told, and never left out", async () => {
  for (const delta of [
    { content: 5 },
    { tool_calls: ["Read"] },
    { tool_calls: [{ function: { name: "Read", arguments: 5 } }] },
  ]) {
    const { error, requests } = await ask(sse(chunk(delta), stop, done));
    expect([error?.code, requests]).toEqual(["bad_response", 1]);
  }
});
