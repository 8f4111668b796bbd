import { expect, it } from "vitest";
import { looksLikePlan } from "../../src/review/looks-like-plan.ts";

it.each([
  { text: '{"steps":[]}', want: true },
  { text: '{"kind":"plan"}', want: true },
  { text: '{"name":"package"}', want: false },
  { text: "steps:", want: false },
  { text: "null", want: false },
])("looksLikePlan: $text: $want", ({ text, want }) => {
  expect(looksLikePlan(text)).toBe(want);
});
