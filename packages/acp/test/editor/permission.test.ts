import { expect, test } from "vitest";
import { confirmationReply, permissionOptions, questionContent } from "#editor/acp-editor";
import { askedQuestion } from "../../../client/test/host/asked-question.ts";

const question = askedQuestion({
  requestId: "r",
  actionStatement: "Run `ls`\u202e",
  modelClaim: "harmless\n~~~\n**low risk**",
  computed: { risk: "high", paths: [], reason: "deletes", rule: "commands/x", policySha256: "" },
  offeredScopes: ["once", "turn", "session"],
  patterns: [{ id: "p", text: "ls *", rule: "", matchedBefore: [], wouldMatch: [], wouldNotMatch: [] }],
});

test("only what the server offered is an answer, the narrowest first, and no last", () => {
  expect(permissionOptions(question).map(({ optionId, kind }) => [optionId, kind])).toEqual([
    ["once", "allow_once"],
    ["turn", "allow_always"],
    ["session", "allow_always"],
    ["turn:p", "allow_always"],
    ["session:p", "allow_always"],
    ["deny", "reject_once"],
  ]);
  const narrow = { ...question, offeredScopes: ["once"] as const, patterns: [] };
  expect(permissionOptions(narrow).map(({ optionId }) => optionId)).toEqual(["once", "deny"]);
});

test.each([
  ["once", { answer: "yes", scope: "once" }],
  ["turn", { answer: "yes", scope: "turn" }],
  ["session:p", { answer: "yes", scope: "session", pattern: "p" }],
  ["deny", { answer: "no", reason: "Denied in the editor." }],
  ["workspace", { answer: "nobody", reason: "The editor gave an answer that was not offered." }],
  ["session:q", { answer: "nobody", reason: "The editor gave an answer that was not offered." }],
  ["", { answer: "nobody", reason: "The editor gave an answer that was not offered." }],
] as const)("the answer %j is %j", (optionId, wanted) => {
  expect(confirmationReply(question, { outcome: "selected", optionId })).toEqual(wanted);
});

test("a closed question is nobody's answer", () => {
  expect(confirmationReply(question, { outcome: "cancelled" })).toMatchObject({ answer: "nobody" });
});

test("what was computed comes first, what is claimed apart from it, and neither hides or leaves its fence", () => {
  const shown = questionContent(question).map((each) =>
    each.type === "content" && each.content.type === "text" ? each.content.text : "",
  );
  expect(shown).toHaveLength(2);
  expect(shown[0]).toMatch(/^\*\*high risk\*\*, computed by the server/);
  expect(shown[0]).toContain("Run `ls`\\u{202e}");
  expect(shown[0]).not.toContain("harmless");
  const [, fence = ""] = /\n(~+|`+)/.exec(shown[1] ?? "") ?? [];
  expect(shown[1]?.split(`\n${fence}\n`).length).toBeGreaterThan(1);
  expect(fence.length).toBeGreaterThan(3);
});
