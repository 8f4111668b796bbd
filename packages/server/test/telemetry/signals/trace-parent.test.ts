import { expect, test } from "vitest";
import { formatTraceParent, parseTraceParent } from "#telemetry/signals/trace-parent";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

test.each([
  ["sampled", `00-${traceId}-${spanId}-01`, { traceId, spanId, traceFlags: 1 }],
  ["not sampled", `00-${traceId}-${spanId}-00`, { traceId, spanId, traceFlags: 0 }],
  ["flags of later versions", `00-${traceId}-${spanId}-ff`, { traceId, spanId, traceFlags: 1 }],
  ["a later version, with more behind", `01-${traceId}-${spanId}-01-more`, { traceId, spanId, traceFlags: 1 }],
  ["none", null, undefined],
  ["empty", "", undefined],
  ["version 00 with more behind", `00-${traceId}-${spanId}-01-more`, undefined],
  ["the forbidden version", `ff-${traceId}-${spanId}-01`, undefined],
  ["no trace", `00-${"0".repeat(32)}-${spanId}-01`, undefined],
  ["no span", `00-${traceId}-${"0".repeat(16)}-01`, undefined],
  ["upper case", `00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
  ["too short", `00-${traceId.slice(1)}-${spanId}-01`, undefined],
  ["two of them", `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`, undefined],
  ["a very long one", `00-${"a".repeat(100_000)}`, undefined],
] as const)("traceparent: %s", (_name, header, wanted) => {
  expect(parseTraceParent(header)).toEqual(wanted);
});

test("what is written is read", () => {
  const context = { traceId, spanId, traceFlags: 1 };
  expect(parseTraceParent(formatTraceParent(context))).toEqual(context);
});
