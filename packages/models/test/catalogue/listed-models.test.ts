import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "@gennai/testkit/listening";
import { expect, onTestFinished, test } from "vitest";
import { listModels } from "#catalogue/listed-models";
import { nothingKnown } from "#catalogue/model-facts";

type Answer = (response: ServerResponse) => void;

/** A server that has these answers, by path; other paths are not there. */
async function serverWith(answers: Readonly<Record<string, Answer>>) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    const answer = answers[request.url ?? ""];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response);
  });
  const { port, ...closing } = await listening(server);
  onTestFinished(() => closing[Symbol.asyncDispose]());
  return { seen, origin: `http://127.0.0.1:${port}`, baseUrl: `http://127.0.0.1:${port}/v1` };
}

const json =
  (answer: unknown): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  };
const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end();
  };

const secret = "sk-never-shown-4711";
const knowing = (key: string | undefined = secret) => ({
  keys: async () => key,
  hasKey: async () => key !== undefined,
  known: { of: async () => nothingKnown, headersFor: () => ({}), isNamed: () => false, problem: undefined },
  environment: {},
});

test("a server says which models it has, and what it gives them; the key goes along and comes back nowhere", async () => {
  const data = [{ id: "zeta" }, { id: "qwen3", max_model_len: 32_768 }, { id: "qwen3" }, { id: "alpha" }];
  const { baseUrl, seen } = await serverWith({ "/v1/models": json({ data }) });
  const listed = await listModels("openai-compatible", baseUrl, knowing());
  expect(listed).toMatchObject({ backend: "openai-compatible", baseUrl, needsKey: false, hasKey: true });
  expect(listed.problem).toBeUndefined();
  expect(listed.models.map(({ model }) => model)).toEqual(["alpha", "qwen3", "zeta"]);
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${secret}`]);
  expect(JSON.stringify(listed)).not.toContain(secret);
});

test("what the server gives a model is its size", async () => {
  const data = [
    { id: "a", context_length: 1000 },
    { id: "b", context_length: -1 },
    { id: "c", context_length: "9" },
  ];
  const { baseUrl } = await serverWith({ "/v1/models": json({ data }) });
  const { models } = await listModels("openai-compatible", baseUrl, knowing());
  expect(models.map(({ contextTokens }) => contextTokens)).toEqual([1000, 0, 0]);
});

test("an Ollama that has no /v1/models is asked for its tags", async () => {
  const { baseUrl, seen } = await serverWith({ "/api/tags": json({ models: [{ name: "qwen3:8b" }, { name: "" }] }) });
  const { models } = await listModels("ollama", baseUrl, knowing(""));
  expect(models.map(({ model }) => model)).toEqual(["qwen3:8b"]);
  expect(seen.map(({ url }) => url)).toEqual(["/v1/models", "/api/tags"]);
});

test("models of a provider that all know are in the catalogue: nobody is asked", async () => {
  const { models, needsKey, hasKey } = await listModels("anthropic", "", knowing(""));
  expect(models.length).toBeGreaterThan(5);
  expect(models.every(({ model }) => model.includes("claude"))).toBe(true);
  expect({ needsKey, hasKey }).toEqual({ needsKey: true, hasKey: true });
  expect(
    (await listModels("anthropic", "", { ...knowing(), keys: async () => undefined, hasKey: async () => false }))
      .hasKey,
  ).toBe(false);
});

test.each<[string, Answer, RegExp, RegExp]>([
  ["that wants another key", status(401), /refuses the key/, /Change its key/],
  ["that has no such path", status(404), /lists no models/, /\/v1/],
  ["that is broken", status(503), /has trouble/, /Try again/],
  ["of another kind", (response) => response.end("<html>"), /lists no models/, /\/v1/],
  ["with another shape", json({ models: 1 }), /lists no models/, /\/v1/],
  ["without models", json({ data: [] }), /has no models/, /Load one/],
  ["that sends us elsewhere", status(307, { location: "http://127.0.0.1:1/v1/models" }), /elsewhere/, /address/],
])("a server %s gets a plain sentence and what to do", async (_name, answer, problem, hint) => {
  const { baseUrl } = await serverWith({ "/v1/models": answer });
  const listed = await listModels("openai-compatible", baseUrl, knowing());
  expect(listed.models).toEqual([]);
  expect(listed.problem).toMatch(problem);
  expect(listed.hint).toMatch(hint);
  expect(JSON.stringify(listed)).not.toContain(secret);
});

test("a server of one's own that wants a key needs one", async () => {
  const { baseUrl } = await serverWith({ "/v1/models": status(401) });
  const listed = await listModels("openai-compatible", baseUrl, { ...knowing(""), hasKey: async () => false });
  expect(listed).toMatchObject({ needsKey: true, hasKey: false, problem: "It needs a key.", hint: "Set its key." });
});

test("the key does not follow a server's word to another one", async () => {
  const other = await serverWith({ "/v1/models": json({ data: [{ id: "x" }] }) });
  const { baseUrl } = await serverWith({ "/v1/models": status(302, { location: `${other.baseUrl}/models` }) });
  expect((await listModels("openai-compatible", baseUrl, knowing())).models).toEqual([]);
  expect(other.seen).toEqual([]);
});

test("an answer without end is not read to the end", async () => {
  let sent = 0;
  const { baseUrl } = await serverWith({
    "/v1/models": (response) => {
      const chunk = Buffer.alloc(1 << 20, " ");
      const more = (): void => {
        sent += 1;
        if (!response.destroyed) response.write(chunk, () => setImmediate(more));
      };
      more();
    },
  });
  expect((await listModels("openai-compatible", baseUrl, knowing())).problem).toMatch(/lists no models/);
  expect(sent).toBeLessThan(64);
});

test("ten thousand models are as many as a person is shown, and names that are drawn as others are none", async () => {
  const hostile = ["\u001b[31mred", "gpt\u202E5", "x".repeat(500), "a\nb", 7, null];
  const data = [
    ...hostile.map((id) => ({ id })),
    null,
    "text",
    ...Array.from({ length: 10_000 }, (_, index) => ({ id: `m${index}` })),
  ];
  const { baseUrl } = await serverWith({ "/v1/models": json({ data }) });
  const { models } = await listModels("openai-compatible", baseUrl, knowing());
  expect(models).toHaveLength(2000);
  expect(models.every(({ model }) => /^m\d+$/.test(model))).toBe(true);
});

test("a server that hangs is given up after three seconds", async () => {
  const { baseUrl } = await serverWith({ "/v1/models": () => undefined });
  const began = performance.now();
  expect((await listModels("openai-compatible", baseUrl, knowing())).problem).toMatch(/within 3 s/);
  expect(performance.now() - began).toBeLessThan(8000);
});

test.each([
  ["http://127.0.0.1:2/v1", /Nothing answers/],
  ["", /Its address is not set/],
  ["file:///etc/passwd", /not an http or https URL/],
  ["http://user:sk-never-shown-4711@127.0.0.1:1/v1", /credentials/],
])("the address %j: said plainly", async (baseUrl, problem) => {
  const listed = await listModels("openai-compatible", baseUrl, knowing());
  expect(listed.problem).toMatch(problem);
  expect(listed.hint).not.toBe("");
});
