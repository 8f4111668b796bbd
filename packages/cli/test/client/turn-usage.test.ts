import type { TokenUsage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import { addUsage, describeUsage, nothingUsed } from "#client/turn-usage";

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
  const used = calls.reduce((sum, usage) => addUsage(sum, usage as TokenUsage, ""), nothingUsed);
  expect(describeUsage(used)).toBe(line);
});
