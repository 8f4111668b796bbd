import { describe, expect, it } from "vitest";
import { looksLikePlan } from "../../src/review/looks-like-plan.ts";

describe("looksLikePlan", () => {
  it.each([
    { text: '{"steps":[]}', want: true },
    { text: '{"kind":"plan"}', want: true },
    { text: '{"name":"package"}', want: false },
    { text: "steps:", want: false },
    { text: "null", want: false },
  ])("$text: $want", ({ text, want }) => {
    expect(looksLikePlan(text)).toBe(want);
  });
});
