import { validateRinaOutput } from "@gennai/protocol/validate-rina-output";
import { expect, test } from "vitest";
import { writtenBy } from "#plans/written-by";

const options = { strict: false, contract: false };
const planText = (title: string) =>
  JSON.stringify({
    id: "p",
    title,
    summary: "s",
    risks: [],
    steps: [{ id: "s1", title: "t", intent: "i", actions: [{ type: "command", command: "npm test" }], verify: [] }],
  });
const digestOf = (text: string): string => {
  const output = validateRinaOutput(text, options);
  if (output.kind !== "plan") throw new Error(JSON.stringify(output.issues));
  return output.plan.digest;
};

test.each([
  { name: "the answer itself", answer: planText("a"), submitted: planText("a"), modelId: "house/model" },
  {
    name: "the answer with words around it",
    answer: `Here it is:\n${planText("a")}\nGood?`,
    submitted: planText("a"),
    modelId: "house/model",
  },
  { name: "an edited one", answer: planText("a"), submitted: planText("b"), modelId: undefined },
  { name: "an answer that is no plan", answer: "Done.", submitted: planText("a"), modelId: undefined },
  { name: "no answer yet", answer: undefined, submitted: planText("a"), modelId: undefined },
])("who wrote a plan: $name", ({ answer, submitted, modelId }) => {
  const lastAnswer = answer === undefined ? undefined : { text: answer, modelId: "house/model" };
  expect(writtenBy({ state: { lastAnswer } }, digestOf(submitted), options).modelId).toBe(modelId);
});
