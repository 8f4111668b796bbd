import fc from "fast-check";
import { expect, test } from "vitest";
import { answerByPolicy, readAnswer } from "#client/confirmation-answer";

const all = ["once", "turn", "session"] as const;
const answers = [
  ["y", all, { answer: "yes", scope: "once" }],
  [" YES ", all, { answer: "yes", scope: "once" }],
  ["t", all, { answer: "yes", scope: "turn" }],
  ["s", all, { answer: "yes", scope: "session" }],
  ["t", ["once"], { answer: "no", reason: "" }],
  ["s", ["once", "turn"], { answer: "no", reason: "" }],
  ["n", all, { answer: "no", reason: "" }],
  ["n use the other file", all, { answer: "no", reason: "use the other file" }],
  ["no: not today", all, { answer: "no", reason: "not today" }],
  ["", all, { answer: "no", reason: "" }],
  ["yes please", all, { answer: "no", reason: "yes please" }],
  ["nope", all, { answer: "no", reason: "nope" }],
  [undefined, all, { answer: "nobody", reason: "The question was left without an answer." }],
] as const;

test.each(answers)("%s of %j", (line, offered, wanted) => {
  expect(readAnswer(line, offered)).toEqual(wanted);
});

const patterns = [{ id: "one" }, { id: "two" }];

test.each([
  ["s1", all, { answer: "yes", scope: "session", pattern: "one" }],
  [" T2 ", all, { answer: "yes", scope: "turn", pattern: "two" }],
  ["s3", all, { answer: "no", reason: "s3" }],
  ["s0", all, { answer: "no", reason: "s0" }],
  ["y1", all, { answer: "no", reason: "y1" }],
  ["s 1", all, { answer: "no", reason: "s 1" }],
  ["s1", ["once"], { answer: "no", reason: "s1" }],
  ["s", all, { answer: "yes", scope: "session" }],
] as const)("%s picks a pattern of two, of %j", (line, offered, wanted) => {
  expect(readAnswer(line, offered, { patterns })).toEqual(wanted);
});

test("only y, yes, t and s can be a yes", () => {
  fc.assert(
    fc.property(fc.string(), (line) => {
      const isWord = ["y", "yes", "t", "s"].includes(line.trim().toLowerCase());
      expect(readAnswer(line, all).answer === "yes").toBe(isWord);
    }),
  );
});

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

test("`r` keeps the rest where there is one, and is a no elsewhere", () => {
  expect(readAnswer("r", ["once"], { rest: ["id"] })).toEqual({ answer: "yes", scope: "once", dropped: ["id"] });
  expect(readAnswer(" Rest ", ["once"], { rest: ["id"] })).toEqual({ answer: "yes", scope: "once", dropped: ["id"] });
  expect(readAnswer("r", ["once"])).toMatchObject({ answer: "no" });
});
