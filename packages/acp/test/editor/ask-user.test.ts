import { expect, test } from "vitest";
import { formFields, formReply } from "#editor/ask-user";

const options = [
  { label: "Red\u202e", description: "" },
  { label: "Blue", description: "sky" },
];
const one = { question: "Which?", header: "", options, multiple: false };
const many = { question: "Which ones?", header: "Colours", options, multiple: true };
const free = { question: "Why?", header: "", options: [], multiple: false };

test("each question has a field for its choice, and one for own words", () => {
  expect(formFields([one, many, free])).toMatchObject({
    "0": {
      type: "string",
      title: "Question 1",
      description: "Which?",
      oneOf: [
        { const: "0", title: "Red\\u{202e}" },
        { const: "1", title: "Blue", description: "sky" },
      ],
    },
    "0.text": { type: "string", title: "Question 1: in your own words" },
    "1": { type: "array", title: "Colours", items: { anyOf: [{ const: "0" }, { const: "1" }] } },
    "2.text": { type: "string", description: "Why?" },
  });
  expect(formFields([free])).not.toHaveProperty("0");
});

test.each([
  ["a choice", one, { "0": "1" }, { chosen: [1], text: "" }],
  ["several", many, { "0": ["1", "0", "1"] }, { chosen: [1, 0], text: "" }],
  ["several where one is asked for", one, { "0": ["1", "0"] }, { chosen: [1], text: "" }],
  ["own words", one, { "0.text": " green " }, { chosen: [], text: "green" }],
  ["nothing", one, {}, { chosen: [], text: "" }],
  ["places that are not there", many, { "0": ["2", "-1", "x", 1e9, null, {}] }, { chosen: [], text: "" }],
  ["a huge text", free, { "0.text": "x".repeat(20_000) }, { chosen: [], text: "x".repeat(10_000) }],
] as const)("%s is read from a form", (_name, question, content, wanted) => {
  expect(formReply([question], content)).toEqual({ end: "answered", answers: [wanted] });
});
