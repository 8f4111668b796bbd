import { expect, test } from "vitest";
import { builtMessage, type CommitFacts, commitQuestion, messageOf } from "../../src/git/commit-message.ts";

const facts: CommitFacts = { intent: undefined, prompts: [], files: ["src/a.ts"], staged: false };
const intent = { id: "INT-7", name: "Colours are spelled color" };

test.each<[string, CommitFacts, string]>([
  ["nothing but a file", facts, "Change src/a.ts\n\nFiles: src/a.ts"],
  ["one prompt", { ...facts, prompts: ["Rename colour\nin all files"] }, "Rename colour\n\nFiles: src/a.ts"],
  [
    "an intent and prompts",
    { ...facts, intent, prompts: ["Rename colour", "and the tests"] },
    "Colours are spelled color\n\n- Rename colour\n- and the tests\n\nFiles: src/a.ts\n\nIntent: INT-7",
  ],
  [
    "what was asked for a message is no work",
    { ...facts, prompts: ["Rename colour", commitQuestion(facts)] },
    "Rename colour\n\nFiles: src/a.ts",
  ],
])("without a model, of %s", (_name, given, wanted) => {
  expect(builtMessage(given)).toBe(wanted);
});

test("a long subject is shortened, and many files are counted", () => {
  const files = Array.from({ length: 25 }, (_, index) => `f${index}.ts`);
  const message = builtMessage({ ...facts, prompts: ["x".repeat(200)], files });
  expect(message.split("\n", 1)[0]).toHaveLength(72);
  expect(message).toContain("f19.ts, and 5 more");
});

test("the question mentions what is staged, else all changes", () => {
  expect(commitQuestion(facts)).toContain("these changes: @diff\n");
  const staged = commitQuestion({
    ...facts,
    files: Array.from({ length: 25 }, (_, index) => `f${index}.ts`),
    staged: true,
    intent,
  });
  expect(staged).toContain("these changes: @staged\n");
  expect(staged).toContain("INT-7");
});

test.each<[string, string | undefined]>([
  ["Spell it color", "Spell it color"],
  ["```text\nSpell it color\n\nAs asked.\n```", "Spell it color\n\nAs asked."],
  ["Spell\u001b[31m it\u202e color", "Spell[31m it color"],
  [" \n", undefined],
])("of the answer %j the message is %j", (answer, wanted) => {
  expect(messageOf(answer)).toBe(wanted);
});
