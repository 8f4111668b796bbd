import { createServer, type IncomingMessage } from "node:http";
import { listening } from "@gennai/testkit/listening";
import { expect, onTestFinished, test, vi } from "vitest";
import { serverWindow } from "#server-window";

/** A server that has these answers, by path; other paths are not there. */
async function serverWith(answers: Readonly<Record<string, unknown>>) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    const found = answers[request.url ?? ""];
    const answer: unknown = typeof found === "function" ? (found as () => unknown)() : found;
    if (answer === "hangs") return;
    if (typeof answer === "number") return void response.writeHead(answer).end();
    if (answer instanceof URL) return void response.writeHead(302, { location: answer.href }).end();
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
  });
  const { port, ...closing } = await listening(server);
  onTestFinished(() => closing[Symbol.asyncDispose]());
  const place = { baseUrl: `http://127.0.0.1:${port}/v1`, model: "m", apiKey: "k-1", headers: { "x-team": "a" } };
  return { seen, place };
}

const entry = (size: object) => ({
  "/v1/models": {
    data: [
      { id: "other", max_model_len: 1 },
      { id: "m", ...size },
    ],
  },
});

test.each<[string, "openai-compatible" | "ollama", Readonly<Record<string, unknown>>, number]>([
  ["vLLM", "openai-compatible", entry({ max_model_len: 32_768 }), 32_768],
  ["Groq", "openai-compatible", entry({ context_window: 131_072 }), 131_072],
  ["OpenRouter", "openai-compatible", entry({ context_length: 200_000 }), 200_000],
  ["Mistral", "openai-compatible", entry({ max_context_length: 262_144 }), 262_144],
  [
    "LM Studio",
    "openai-compatible",
    { ...entry({}), "/api/v0/models/m": { loaded_context_length: 4_096, max_context_length: 9 } },
    4_096,
  ],
  [
    "llama.cpp",
    "openai-compatible",
    { ...entry({ meta: { n_ctx_train: 9 } }), "/props": { default_generation_settings: { n_ctx: 8_192 } } },
    8_192,
  ],
  ["Ollama, loaded", "ollama", { "/api/ps": { models: [{ name: "m:latest", context_length: 16_384 }] } }, 16_384],
  [
    "Ollama, by its Modelfile",
    "ollama",
    { "/api/ps": { models: [] }, "/api/show": { parameters: 'stop "x"\nnum_ctx    8192\n' } },
    8_192,
  ],
  [
    "Ollama, which does not say",
    "ollama",
    { "/api/ps": { models: [] }, "/api/show": { parameters: "", model_info: { "q.context_length": 9 } } },
    0,
  ],
  ["one that says nothing", "openai-compatible", {}, 0],
  ["one that says nonsense", "openai-compatible", entry({ max_model_len: -5 }), 0],
  ["one that is broken", "openai-compatible", { "/v1/models": "<html>" }, 0],
])("%s", async (_name, kind, answers, tokens) => {
  const { place, seen } = await serverWith(answers);
  expect(await serverWindow(kind, place)).toBe(tokens);
  const requests = seen.length;
  expect(await serverWindow(kind, place)).toBe(tokens);
  expect(seen).toHaveLength(requests);
  expect(seen[0]?.headers).toMatchObject({ authorization: "Bearer k-1", "x-team": "a" });
});

test("a server that does not answer is not waited for, and asked again after a while", async () => {
  const answers: Record<string, unknown> = { "/v1/models": "hangs" };
  const { place, seen } = await serverWith(answers);
  const began = performance.now();
  expect(await serverWindow("openai-compatible", place)).toBe(0);
  expect(performance.now() - began).toBeLessThan(8_000);
  Object.assign(answers, entry({ max_model_len: 32_768 }));
  const requests = seen.length;
  expect(await serverWindow("openai-compatible", place)).toBe(0);
  expect(seen).toHaveLength(requests);
  later();
  expect(await serverWindow("openai-compatible", place)).toBe(32_768);
});

test("a server that is starting is asked again after a while, and then no more", async () => {
  const answers: Record<string, unknown> = { "/v1/models": 503 };
  const { place, seen } = await serverWith(answers);
  expect(await serverWindow("openai-compatible", place)).toBe(0);
  Object.assign(answers, entry({ max_model_len: 32_768 }));
  later();
  expect(await serverWindow("openai-compatible", place)).toBe(32_768);
  const requests = seen.length;
  later();
  expect(await serverWindow("openai-compatible", place)).toBe(32_768);
  expect(seen).toHaveLength(requests);
});

test.each(["openai-compatible", "ollama"] as const)(
  "%s: a gateway's key goes to nothing beside its address",
  async (kind) => {
    const { place, seen } = await serverWith({
      "/props": { default_generation_settings: { n_ctx: 8_192 } },
      "/api/ps": { models: [{ name: "m", context_length: 8_192 }] },
    });
    const { origin } = new URL(place.baseUrl);
    expect(await serverWindow(kind, { ...place, baseUrl: `${origin}/team-a/v1` })).toBe(0);
    expect(seen.map(({ url }) => url)).toEqual(kind === "ollama" ? [] : ["/team-a/v1/models"]);
    expect(await serverWindow(kind, { ...place, baseUrl: origin })).toBe(8_192);
  },
);

test("Ollama is made to load the model, and asked again once that may be another size", async () => {
  const answers: Record<string, unknown> = { "/api/ps": { models: [] }, "/api/show": { parameters: "" } };
  const { place, seen } = await serverWith(answers);
  answers["/api/generate"] = () => {
    answers["/api/ps"] = { models: [{ name: "m:latest", context_length: 4_096 }] };
    return { done: true, done_reason: "load" };
  };
  expect(await serverWindow("ollama", place)).toBe(4_096);
  expect(seen.map(({ url }) => url)).toEqual(["/api/ps", "/api/show", "/api/generate", "/api/ps"]);
  answers["/api/ps"] = { models: [{ name: "m:latest", context_length: 65_536 }] };
  later();
  expect(await serverWindow("ollama", place)).toBe(65_536);
});

test("a redirect is not followed", async () => {
  const other = await serverWith(entry({ max_model_len: 32_768 }));
  const { place } = await serverWith({ "/v1/models": new URL(`${other.place.baseUrl}/models`) });
  expect(await serverWindow("openai-compatible", place)).toBe(0);
  expect(other.seen).toEqual([]);
});

/** So much later that a server may be asked again. */
function later(): void {
  const now = Date.now() + 60_000;
  vi.setSystemTime(now);
  onTestFinished(() => void vi.useRealTimers());
}
