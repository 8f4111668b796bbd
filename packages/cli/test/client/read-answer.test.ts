import type { ConfirmationScope, OfferedPart } from "@gennai/protocol/model/governance/question";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readAnswer } from "#client/read-answer";
import { askedQuestion } from "../../../client/test/host/asked-question.ts";

const asked = (offeredScopes: readonly ConfirmationScope[], more: Parameters<typeof askedQuestion>[0] = {}) =>
  askedQuestion({ offeredScopes, ...more });
const all = ["once", "turn", "session"] as const;
const answers = [
  ["y", all, { answer: "yes", scope: "once" }],
  [" YES ", all, { answer: "yes", scope: "once" }],
  ["t", all, { answer: "yes", scope: "turn" }],
  ["s", all, { answer: "yes", scope: "session" }],
  ["w", [...all, "workspace"], { answer: "yes", scope: "workspace" }],
  ["w", all, { answer: "no", reason: "" }],
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
  expect(readAnswer(line, asked(offered))).toEqual(wanted);
});

const patterns = ["one", "two"].map((id) => ({
  id,
  text: id,
  rule: "",
  matchedBefore: [],
  wouldMatch: [],
  wouldNotMatch: [],
}));

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
  expect(readAnswer(line, asked(offered, { patterns }))).toEqual(wanted);
});

test("only y, yes, t and s can be a yes", () => {
  fc.assert(
    fc.property(fc.string(), (line) => {
      const isWord = ["y", "yes", "t", "s"].includes(line.trim().toLowerCase());
      expect(readAnswer(line, asked(all)).answer === "yes").toBe(isWord);
    }),
  );
});

const part = (id: string, rule: string): OfferedPart => ({ id, name: id, rule, reason: "", needs: [] });
const parts = [part("id", "r"), part("quiet", "")];

test("`r` keeps the rest where there is one, and is a no elsewhere", () => {
  const kept = { answer: "yes", scope: "once", dropped: ["id"] };
  expect(readAnswer("r", asked(["once"], { parts }))).toEqual(kept);
  expect(readAnswer(" Rest ", asked(["once"], { parts }))).toEqual(kept);
  expect(readAnswer("r", asked(["once"]))).toMatchObject({ answer: "no" });
});
