import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, it } from "vitest";
import { defaultTiming, ProviderModel } from "#answer/provider-model";
import { capabilitiesOf } from "#request/model-capabilities";
import { requestWith } from "../request-with.ts";
import { testEndpoint } from "../test-endpoint.ts";

it("lets others have their turn while an answer that is all there is read", async () => {
  let turns = 0;
  const inputTokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const outputTokens = { total: undefined, text: undefined, reasoning: undefined };
  async function* answer(): AsyncGenerator<LanguageModelV4StreamPart> {
    for (let piece = 0; piece < 200_000 && turns === 0; piece += 1) {
      yield { type: "text-delta", id: "text", delta: "lorem " };
    }
    yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: { inputTokens, outputTokens } };
  }
  const { facts, ...endpoint } = testEndpoint({ baseUrl: "http://localhost", model: "m", apiKey: "" });
  const model = new ProviderModel({
    id: "test/model",
    chat: { doStream: async () => ({ stream: answer() }) },
    capabilities: capabilitiesOf(facts),
    maxContextTokens: 0,
    endpoint,
    timing: defaultTiming,
    toCall: () => ({ prompt: [] }),
  });
  setImmediate(() => (turns += 1));
  const { signal } = new AbortController();
  for await (const event of model.stream(requestWith(), { signal }))
    expect(["text-delta", "finish"]).toContain(event.type);
  expect(turns).toBe(1);
});
