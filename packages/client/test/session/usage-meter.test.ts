import { create } from "@bufbuild/protobuf";
import { TokenUsageSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import { contextWords, costWords, emptyMeter, meterAfter, type UsageMeter, usageWords } from "#session/usage-meter";

const answer = create(TokenUsageSchema, {
  inputTokens: 1_000,
  outputTokens: 200,
  maxContextTokens: 10_000,
  cost: 0.01,
  currency: "USD",
});
const unpriced = create(TokenUsageSchema, { inputTokens: 500, outputTokens: 100, maxContextTokens: 8_000 });

test("costs are estimates, add up, and say when some answers had no price", () => {
  const priced = meterAfter(meterAfter(emptyMeter, answer, ""), answer, "");
  expect(costWords(priced)).toBe("about 0.02 USD");
  expect(costWords(meterAfter(priced, unpriced, ""))).toBe("at least 0.02 USD");
});

test("without a price there is no figure, and without a size neither", () => {
  const meter = meterAfter(emptyMeter, unpriced, "");
  expect(costWords(meter)).toBe("");
  expect(contextWords({ ...meter, maxContextTokens: 0 })).toBe("");
  expect(contextWords(emptyMeter)).toBe("");
});

test("how full the context is goes by the session's own newest answer", () => {
  const meter = meterAfter(emptyMeter, answer, "");
  expect(contextWords(meter)).toBe("context 12 %");
  expect(contextWords(meterAfter(meter, unpriced, "call-of-a-sub-agent"))).toBe("context 12 %");
  expect(contextWords(meterAfter(meter, { ...unpriced, forCompaction: true }, ""))).toBe("context 12 %");
  expect(contextWords(meterAfter(meter, unpriced, ""))).toBe("context 8 %");
});

const model = { inputTokens: 40_000, outputTokens: 1_000, maxContextTokens: 200_000, modelId: "m" };
const priced = { ...model, cost: 0.135, currency: "USD" };

test.each([
  ["nothing was told", [], ""],
  ["a price is known", [priced], "40000 tokens in, 1000 out · about 0.14 USD · context 21 % full"],
  [
    "some came from the cache",
    [{ ...priced, cachedInputTokens: 30_000 }],
    "40000 tokens in (30000 cached), 1000 out · about 0.14 USD · context 21 % full",
  ],
  ["one call has no price", [priced, model], "80000 tokens in, 2000 out · at least 0.14 USD · context 21 % full"],
  ["no price is known", [model], "40000 tokens in, 1000 out · context 21 % full"],
  ["the model's size is not known", [{ ...model, maxContextTokens: 0 }], "40000 tokens in, 1000 out"],
])("the last line of a turn, where %s", (_name, calls, line) => {
  const used = calls.reduce<UsageMeter>(
    (sum, usage) => meterAfter(sum, create(TokenUsageSchema, usage), ""),
    emptyMeter,
  );
  expect(usageWords(used)).toBe(line);
});
