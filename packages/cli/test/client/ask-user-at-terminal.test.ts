import { maxAnswerText, type UserQuestion } from "@gennai/protocol/model/session/user-question";
import { expect, test } from "vitest";
import { askUserAtTerminal, readUserAnswer } from "#client/ask-user-at-terminal";

const one: UserQuestion = {
  question: "Which store?\u001b[2J",
  header: "Store",
  multiple: false,
  options: [
    { label: "SQLite", description: "One file" },
    { label: "Postgres", description: "" },
  ],
};
const several: UserQuestion = { ...one, multiple: true };

test.each<[string, UserQuestion, readonly number[], string]>([
  ["2", one, [1], ""],
  [" 1 ", one, [0], ""],
  ["1, 2", several, [0, 1], ""],
  ["2 2", several, [1], ""],
  // More than it takes, and what there is not, are words.
  ["1 2", one, [], "1 2"],
  ["3", one, [], "3"],
  ["0", one, [], "0"],
  ["neither", one, [], "neither"],
  ["", one, [], ""],
  ["5", { ...one, options: [] }, [], "5"],
])("what is typed: %j", (line, question, chosen, text) => {
  expect(readUserAnswer(line, question)).toEqual({ chosen, text });
});

async function asked(lines: readonly (string | undefined)[]) {
  let shown = "";
  const left = [...lines];
  const reply = await askUserAtTerminal([one, several], {
    input: {
      question: async (prompt) => {
        shown += prompt;
        return left.shift();
      },
    },
    write: (text) => {
      shown += text;
    },
    paint: (_style, text) => text,
    signal: new AbortController().signal,
  });
  return { reply, shown };
}

test("questions are put one after the other, and nothing in them moves the cursor", async () => {
  const { reply, shown } = await asked(["2", ""]);
  expect(reply).toEqual({
    end: "answered",
    answers: [
      { chosen: [1], text: "" },
      { chosen: [], text: "" },
    ],
  });
  expect(shown).toContain("The model asks");
  expect(shown).toContain("1  SQLite  One file");
  expect(shown).not.toContain("\u001b");
});

test("an answer that no server takes is asked for again, with the limit", async () => {
  const longest = "x".repeat(maxAnswerText);
  const { reply, shown } = await asked([`${longest}x`, ` ${longest} `, "1"]);
  expect(reply).toEqual({
    end: "answered",
    answers: [
      { chosen: [], text: longest },
      { chosen: [0], text: "" },
    ],
  });
  expect(shown).toContain("An answer has at most 10,000 characters; this one has 10,001.");
});

test.each([[["1", "/cancel"]], [["1", undefined]]])("no answer follows %j", async (lines) => {
  expect((await asked(lines)).reply).toEqual({ end: "cancelled" });
});
