import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import { expect, onTestFinished, test } from "vitest";
import { loadModelFacts, nothingKnown } from "#catalogue/model-facts";
import { catalogueDate, catalogueRows } from "#gen/catalogue";
import { providers } from "#providers";

async function factsWith(file?: unknown) {
  const directory = await mkdtemp(join(tmpdir(), "gennai-facts-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const text = typeof file === "string" ? file : JSON.stringify(file);
  if (file !== undefined) await writeFile(join(directory, "models.json"), text, { mode: 0o600 });
  return loadModelFacts(directory);
}

type Named = Pick<SessionSettings, "backend" | "model" | "baseUrl">;

function named(backend: Named["backend"], model: string, baseUrl = ""): Named {
  return { backend, model, baseUrl };
}

// As the providers' own pages say: what the catalogue has is not to be taken on trust.
test.each([
  // https://platform.claude.com/docs/en/about-claude/models/overview, .../pricing
  [
    named("anthropic", "claude-sonnet-4-5-20250929"),
    { context: 200_000, output: 64_000, in: 3, out: 15, read: 0.3, write: 3.75 },
  ],
  [named("anthropic", "claude-haiku-4-5"), { context: 200_000, output: 64_000, in: 1, out: 5, read: 0.1, write: 1.25 }],
  // https://platform.openai.com/docs/models/gpt-5: 400,000 with the answer's 128,000
  [named("openai", "gpt-5"), { context: 272_000, output: 128_000, in: 1.25, out: 10, read: 0.125, write: 1.25 }],
  [
    named("openai", "gpt-5-mini-2025-08-07"),
    { context: 272_000, output: 128_000, in: 0.25, out: 2, read: 0.025, write: 0.25 },
  ],
  [named("openai", "gpt-4.1"), { context: 1_047_576, output: 32_768, in: 2, out: 8, read: 0.5, write: 2 }],
  // https://ai.google.dev/gemini-api/docs/models, .../pricing
  [
    named("gemini", "models/gemini-2.5-flash"),
    { context: 1_048_576, output: 65_536, in: 0.3, out: 2.5, read: 0.03, write: 0.3 },
  ],
  [
    named("gemini", "gemini-2.5-pro"),
    { context: 1_048_576, output: 65_536, in: 1.25, out: 10, read: 0.125, write: 1.25 },
  ],
])("%j is known", async (settings, wanted) => {
  const { prices, contextTokens, outputTokens, thinking } = await (await factsWith()).of(settings);
  const { input, output, cachedInput, cacheWrite, currency } = prices ?? {};
  expect({
    context: contextTokens,
    output: outputTokens,
    in: input,
    out: output,
    read: cachedInput,
    write: cacheWrite,
  }).toEqual(wanted);
  expect(currency).toBe("USD");
  expect(thinking).toBe(settings.model !== "gpt-4.1");
});

test("above 200,000 tokens Gemini's rates are others", async () => {
  const { prices } = await (await factsWith()).of(named("gemini", "gemini-2.5-pro"));
  expect(prices?.tiers).toEqual([{ above: 200_000, input: 2.5, output: 15, cachedInput: 0.25, cacheWrite: 2.5 }]);
});

test("behind chat completions the address says whose model it is", async () => {
  const known = await factsWith();
  const at = (host: string) => known.of(named("openai-compatible", "deepseek-v4-pro", `https://${host}/v1`));
  expect((await at("api.deepseek.com")).contextTokens).toBeGreaterThan(0);
  for (const host of ["127.0.0.1:8000", "api.deepseek.com.example.org", "__proto__"]) {
    expect(await at(host)).toEqual(nothingKnown);
  }
});

test("a model that nobody lists has no figures, and neither has one that is free", async () => {
  const known = await factsWith();
  expect(await known.of(named("anthropic", "claude-next"))).toEqual(nothingKnown);
  expect(await known.of(named("ollama", "qwen3"))).toEqual(nothingKnown);
  expect((await known.of(named("gemini", "gemma-4-31b-it"))).prices).toBeUndefined();
});

test("what the user wrote counts, field by field", async () => {
  const known = await factsWith({
    models: {
      "openai/gpt-5": { context_tokens: 100_000 },
      "gpt-5": { context_tokens: 1 },
      mine: { input: 1, output: 2, cached_input: 0, thinking: false, output_tokens: 9 },
    },
  });
  expect(await known.of(named("openai", "gpt-5"))).toMatchObject({
    contextTokens: 100_000,
    outputTokens: 128_000,
    prices: { input: 1.25 },
  });
  expect(await known.of(named("ollama", "mine"))).toMatchObject({
    prices: { currency: "USD", input: 1, output: 2, cachedInput: 0, cacheWrite: 1 },
    thinking: false,
    outputTokens: 9,
  });
});

test("beside another currency the catalogue's prices do not count, since there would be no sum", async () => {
  const known = await factsWith({ currency: "EUR", models: { mine: { input: 1, output: 2 } } });
  expect((await known.of(named("openai", "gpt-5"))).prices).toBeUndefined();
  expect((await known.of(named("openai", "gpt-5"))).contextTokens).toBe(272_000);
  expect((await known.of(named("ollama", "mine"))).prices?.currency).toBe("EUR");
});

test.each([
  ["{", /JSON/],
  [{ models: { m: { context_tokens: -1 } } }, /models\.m\.context_tokens/],
  [{ models: { m: { contxt: 1 } } }, /contxt/],
  [{ headers: { "file:///x": {} } }, /not an http or https address/],
  [{ headers: { "https://a.example": { Host: "x" } } }, /Host: .*header that each request has/],
  [{ headers: { "https://a.example": { "X-A": "a\nb" } } }, /plain characters/],
])("%j is said to be no use, and then there are no prices", async (file, problem) => {
  const known = await factsWith(file);
  expect(known.problem).toMatch(problem);
  expect((await known.of(named("openai", "gpt-5"))).prices).toBeUndefined();
});

test("headers are for what lies below their address alone", async () => {
  const known = await factsWith({
    headers: { "https://gw.example/v1": { "X-Team": "a" }, "https://gw.example/v1/inner": { "X-Team": "b" } },
  });
  const team = (baseUrl: string) => known.headersFor(baseUrl)["X-Team"];
  expect([team("https://gw.example/v1"), team("https://gw.example/v1/x"), team("https://gw.example/v1/inner")]).toEqual(
    ["a", "a", "b"],
  );
  for (const other of [
    "https://gw.example/v11",
    "https://gw.example.org/v1",
    "http://gw.example/v1",
    "https://gw.example:444/v1",
  ]) {
    expect(team(other), other).toBeUndefined();
  }
});

test("each row can be used, and the models that messages name are among them", async () => {
  expect(catalogueDate).toMatch(/^20\d\d-\d\d-\d\d$/);
  const rows = Object.values(catalogueRows).flat();
  expect(rows.length).toBeGreaterThan(1_000);
  for (const [id, context, , , , base] of rows) {
    expect(context, id).toBeGreaterThan(0);
    for (const rate of base ?? []) expect(rate, id).toBeGreaterThanOrEqual(0);
  }
  const known = await factsWith();
  for (const backend of ["openai", "anthropic", "gemini"] as const) {
    expect((await known.of(named(backend, providers[backend].exampleModel))).contextTokens).toBeGreaterThan(0);
  }
});
