import { expect, it } from "vitest";
import { redactedReview } from "#proposal/proposal-review";

it("masks every text of a review: notes and edited hunks", async () => {
  const redactor = {
    redact: async (text: string) => text.replaceAll("hunter2", "[REDACTED:test]"),
    stream: () => ({ push: async (text: string) => text, end: async () => "" }),
  };
  const hunk = {
    changeId: "c1",
    hunkId: "h1",
    decision: "edited",
    editedText: "key = hunter2",
    note: "hunter2",
  } as const;
  const review = { proposalId: "p", hunks: [hunk], note: "use hunter2" };
  const masked = await redactedReview(review, redactor);
  expect(JSON.stringify(masked)).not.toContain("hunter2");
  expect(masked).toMatchObject({ proposalId: "p", hunks: [{ changeId: "c1", hunkId: "h1", decision: "edited" }] });
});
