import { expect, test } from "vitest";
import { describeUndone } from "#commands/sessions/undo-text";

test("an undo says which refs went back, and which stay", () => {
  const text = describeUndone({
    changeSetId: "1",
    files: [{ path: "a.ts", operation: "delete", beforeSha256: "1" }],
    skipped: [{ path: "refs/heads/other", reason: "changed_since" }],
    refs: ["HEAD", "refs/heads/work"],
  });
  expect(text.split("\n")).toEqual([
    "removed a.ts",
    "moved back HEAD",
    "moved back refs/heads/work",
    "left as it is: refs/heads/other (changed since, not by the agent)",
    "",
  ]);
});
