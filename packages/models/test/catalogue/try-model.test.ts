import { type Model, ModelError, type ModelEvent } from "@gennai/agent/model";
import { expect, test } from "vitest";
import { tryModel } from "#catalogue/try-model";
import { createOpenAICompatibleModel } from "#openai-compatible";
import { delta, sse, startChatServer } from "../chat-server.ts";
import { testEndpoint } from "../test-endpoint.ts";

const secret = "sk-never-shown-4711";
const never = {
  signal: new AbortController().signal,
  onUnexpectedError: (error: unknown) => {
    throw error;
  },
};

/** A model that says this. */
const saying = (...events: readonly ModelEvent[]): Model =>
  ({
    id: "test/model",
    async *stream() {
      yield* events;
    },
  }) as unknown as Model;

test("one real small call, with the key, and its time", async () => {
  await using server = await startChatServer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(delta({ content: "Hello." }), delta({}, "stop"), "[DONE]"));
  });
  const endpoint = testEndpoint({ baseUrl: server.baseUrl, model: "qwen3", apiKey: secret });
  const trial = await tryModel(async () => createOpenAICompatibleModel("openai-compatible", endpoint), never);
  expect(trial).toEqual({ answered: true, milliseconds: expect.any(Number) });
  const [request] = server.requests;
  expect(server.requests).toHaveLength(1);
  expect(request?.authorization).toBe(`Bearer ${secret}`);
  expect(request?.body).toMatchObject({ model: "qwen3" });
  expect(JSON.stringify(request?.body).length).toBeLessThan(1000);
});

test.each<[string, number, RegExp]>([
  ["a key that is refused", 401, /key|refus/i],
  ["a model that is not there", 404, /not|model/i],
])("%s is told in words, without the key", async (_name, code, words) => {
  await using server = await startChatServer((response) => {
    response.writeHead(code, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `no: ${secret}` } }));
  });
  const endpoint = testEndpoint({ baseUrl: server.baseUrl, model: "qwen3", apiKey: secret });
  const trial = await tryModel(async () => createOpenAICompatibleModel("openai-compatible", endpoint), never);
  expect(trial).toMatchObject({ answered: false, problem: expect.stringMatching(words) });
  expect(JSON.stringify(trial)).not.toContain(secret);
});

test("a person is told at once that a model has too much to do", async () => {
  await using server = await startChatServer((response) => void response.writeHead(503).end());
  const endpoint = testEndpoint({ baseUrl: server.baseUrl, model: "qwen3", apiKey: secret });
  const trial = await tryModel(async () => createOpenAICompatibleModel("openai-compatible", endpoint), never);
  // It is not asked again, and does not say so.
  expect(trial).toMatchObject({
    answered: false,
    hint: "Try again in a moment.",
    problem: expect.stringMatching(/\.$/),
  });
  expect(JSON.stringify(trial)).not.toContain("Asking again");
  expect(server.requests).toHaveLength(1);
});

test("a model that says nothing, and one that cannot be made", async () => {
  expect(await tryModel(async () => saying(), never)).toMatchObject({ answered: false, problem: "It said nothing." });
  const failing = tryModel(async () => {
    throw new ModelError("not_configured", "The backend openai needs a key.", { hint: "Set it." });
  }, never);
  expect(await failing).toMatchObject({ answered: false, problem: "The backend openai needs a key.", hint: "Set it." });
});

test("an error that nobody expected goes to the log, not to the person", async () => {
  const error = new Error(`ENOENT: /home/operator/.config/${secret}`);
  const logged: unknown[] = [];
  const failing = async () => {
    throw error;
  };
  const trial = await tryModel(failing, { ...never, onUnexpectedError: (each) => void logged.push(each) });
  expect(trial).toMatchObject({ answered: false, problem: "Something unexpected went wrong on the server." });
  expect(JSON.stringify(trial)).not.toMatch(/operator|4711/);
  expect(logged).toEqual([error]);
});

test("thinking is an answer as well", async () => {
  const trial = await tryModel(async () => saying({ type: "thinking-delta", text: "Hm" }), never);
  expect(trial.answered).toBe(true);
});

test("giving up ends the call", async () => {
  await using server = await startChatServer(() => undefined);
  const endpoint = testEndpoint({ baseUrl: server.baseUrl, model: "qwen3", apiKey: secret });
  const stop = new AbortController();
  const trial = tryModel(async () => createOpenAICompatibleModel("openai-compatible", endpoint), {
    ...never,
    signal: stop.signal,
  });
  await expect.poll(() => server.requests.length).toBe(1);
  stop.abort();
  expect(await trial).toMatchObject({ answered: false, problem: "It was stopped." });
  await expect.poll(() => server.closed()).toBe(1);
});
