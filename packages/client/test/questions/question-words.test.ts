import { expect, test } from "vitest";
import { offeredAnswers } from "#questions/offered-answers";
import { questionWords } from "#questions/question-words";
import { askedQuestion } from "../host/asked-question.ts";

const { computed } = askedQuestion();

test.each([
  {
    name: "a command is shown beside the question",
    question: { actionStatement: "Run `rm a` in the user's terminal" },
    words: { what: "Run this command in your terminal?", yes: "Run", no: "Don't run" },
  },
  {
    name: "a deletion",
    question: { actionStatement: "Delete a.txt" },
    words: { what: "Delete a.txt?", yes: "Delete", no: "Don't delete" },
  },
  {
    name: "an edit that begins a branch",
    question: { actionStatement: "Edit a.ts", computed: { ...computed, rule: "branch/protected-branch" } },
    words: { what: "Edit a.ts?", yes: "Create branch", no: "Only look" },
  },
  {
    name: "what was found",
    question: {
      title: "Keep what Bash changed?",
      actionStatement: "Keep what `x` changed: a, b, c, d",
      computed: { ...computed, paths: ["a", "b", "c", "d"] },
    },
    words: { what: "Keep what was changed: a, b, c and 1 more?", yes: "Keep change", no: "Discard" },
  },
  {
    name: "a way out",
    question: { title: "Let npm reach npmjs.org?", actionStatement: "Let `npm` reach npmjs.org" },
    words: { what: "Let npm reach npmjs.org?", yes: "Allow", no: "Don't allow" },
  },
  {
    name: "a statement that no list knows",
    question: { title: "Allow Magic?", actionStatement: "Enchant the prince" },
    words: { what: "Enchant the prince?", yes: "Allow", no: "Don't allow" },
  },
  {
    name: "of an attempt",
    question: { title: "Attempt 2: Allow Edit?", actionStatement: "Edit a.ts" },
    words: { what: "Attempt 2: Edit a.ts?", yes: "Edit", no: "Don't edit" },
  },
  {
    name: "no statement",
    question: { title: "Allow Magic?" },
    words: { what: "Allow Magic?", yes: "Allow", no: "Don't allow" },
  },
])("$name", ({ question, words }) => {
  expect(questionWords(askedQuestion(question))).toEqual(words);
});

test("each answer says what it does and how long that lasts", () => {
  const question = askedQuestion({
    actionStatement: "Run `rm a.tmp`",
    offeredScopes: ["once", "turn", "workspace"],
    patterns: [{ id: "p", text: "rm *.tmp", rule: "r", matchedBefore: [], wouldMatch: [], wouldNotMatch: [] }],
  });
  expect(offeredAnswers(question).map(({ id, words }) => `${id} = ${words}`)).toEqual([
    "once = Run",
    "turn = Run for this turn",
    "workspace = Run in this workspace",
    "turn:p = Run for this turn: all like rm *.tmp",
  ]);
});
