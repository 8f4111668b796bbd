import { expect, test } from "vitest";
import { answerByPolicy } from "#client/confirmation-answer";

const policies = [
  ["yes", "low", { answer: "yes", scope: "once" }],
  ["yes", "medium", { answer: "yes", scope: "once" }],
  ["yes", "high", { answer: "nobody", reason: expect.stringContaining("high risk: deletes files") }],
  ["nobody", "low", { answer: "nobody", reason: expect.stringContaining("Nobody could be asked") }],
  ["ask", "low", undefined],
] as const;

test.each(policies)("policy %s at %s risk", (policy, risk, wanted) => {
  const computed = { risk, paths: [], rule: "r", reason: "deletes files", policySha256: "" };
  expect(answerByPolicy(policy, { computed })).toEqual(wanted);
});
