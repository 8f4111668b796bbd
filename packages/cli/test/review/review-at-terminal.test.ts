import { expect, test } from "vitest";
import { describeQuestion } from "#client/terminal-confirmation";
import { readReviewAnswer } from "#review/review-at-terminal";
import { askedQuestion } from "../../../client/test/host/asked-question.ts";

const rows = [
  ["y", { type: "one", decision: { type: "keep" } }],
  ["YES", { type: "one", decision: { type: "keep" } }],
  ["n", { type: "one", decision: { type: "undo" } }],
  ["n too long", { type: "one", decision: { type: "undo", note: "too long" } }],
  ["a", { type: "rest", decision: { type: "keep" } }],
  ["d not today", { type: "rest", decision: { type: "undo", note: "not today" } }],
  ["e", { type: "edit" }],
  ["q", { type: "quit" }],
  ["y but", { type: "unclear" }],
  ["always", { type: "unclear" }],
  ["", { type: "unclear" }],
  [undefined, { type: "quit" }],
] as const;

test.each(rows)("%s", (line, wanted) => {
  expect(readReviewAnswer(line)).toEqual(wanted);
});

test("a question shows what was computed and what is claimed apart, and spells what would steer the terminal", () => {
  const text = describeQuestion(
    askedQuestion({
      intentReflection: "none",
      actionStatement: "Run `ls`\x1b[2K",
      modelClaim: "harmless\nWhat the server found",
      computed: { risk: "high", paths: ["a", "b"], rule: "floor/x", reason: "deletes", policySha256: "" },
      actionJson: '{"command":"ls"}',
    }),
    (_style, part) => part,
  );
  expect(text).toBe(`Allow Bash?  high risk
  action  Run \`ls\`\\u{1b}[2K
  intent  none
What the server found
  reason  deletes
  rule    floor/x
  paths   a, b
  exactly {"command":"ls"}
Claimed by the model
  claim   “harmless
          What the server found”
`);
});
