import { describe, expect, it } from "vitest";
import { looksLikePlan, planRequest } from "../../src/plan/plan-request.ts";

const none = { activeFile: undefined, selection: undefined, openFiles: [] };
const document = { path: "a.ts", language: "typescript", text: "let a = 1;\n", isDirty: true };

describe("planRequest", () => {
  it("is the goal where no file is open", () => {
    expect(planRequest("Mend it", undefined, none)).toBe("Mend it");
  });

  it("holds the unsaved text and its path", () => {
    expect(planRequest("Mend it", document, none)).toBe(
      "Mend it\n\nThe open file is a.ts; it has unsaved changes, and the text below is what counts.\n```typescript\nlet a = 1;\n```",
    );
  });

  it("holds the selection alone where there is one, in a fence its text cannot close", () => {
    const selection = { startLine: 2, endLine: 3, text: "```\nx" };
    expect(planRequest("Mend it", { ...document, isDirty: false }, { ...none, selection })).toBe(
      "Mend it\n\nThe open file is a.ts; lines 2 to 3 are selected:\n````typescript\n```\nx\n````",
    );
  });
});

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
