import { expect, test } from "vitest";
import { describeQuestion } from "#client/terminal-confirmation";
import { readReviewAnswer, reviewAtTerminal } from "#review/review-at-terminal";
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

test("all the rest leaves out what a rule refuses, which is asked again with the reason, and hides nothing", async () => {
  const range = { start: 1, count: 1 };
  const hunk = { id: "0", oldRange: range, newRange: range, lines: ["-a\r", "+\u202eb"] };
  const change = { operation: "update", unifiedDiff: "", newContent: "", baseSha256: "", conflict: false } as const;
  const answers = ["a", "n", "y"];
  let written = "";
  const { signal } = new AbortController();
  const decided = await reviewAtTerminal(
    {
      proposalId: "p",
      toolCallId: "",
      hasConflicts: false,
      warnings: [],
      changes: [
        { ...change, id: "denied", path: "denied", warning: "deny  floor/x  hides", hunks: [hunk] },
        { ...change, id: "b", path: "b", warning: "", hunks: [hunk] },
        { ...change, id: "denied too", path: "link", warning: "", unifiedDiff: "--- a/link\n+++ b/link\n", hunks: [] },
      ],
    },
    {
      input: {
        question: (text) => {
          written += `${text}\n`;
          return Promise.resolve(answers.shift());
        },
        suspend: () => ({ [Symbol.dispose]: () => undefined }),
      },
      write: (text) => (written += text),
      paint: (_style, text) => text,
      environment: {},
      signal,
      apart: new Set(["denied", "denied too"]),
    },
  );
  expect(decided?.map(({ decision }) => decision.type)).toEqual(["undo", "keep", "keep"]);
  const asked = "denied#1 @@ -1,1 +1,1 @@\ndeny  floor/x  hides\n-a\n+\\u{202e}b\nkeep denied#1? [y/n/e/a/d/q] \n";
  expect(written.split("quit, apply nothing\n")[1]).toBe(
    `\n${asked}A rule refuses this one: answer y or n.\n\n${asked}\nupdate link\n--- a/link\n+++ b/link\nkeep link#1? [y/n/e/a/d/q] \n`,
  );
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
