import { create } from "@bufbuild/protobuf";
import { TokenUsageSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import { contextWords, costWords, emptyMeter, meterAfter } from "#session/usage-meter";

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
