import { expect, test } from "vitest";
import { Approvals } from "#bridge/second-person";
import { gateQuestion } from "../../../governance/test/gate/gate-question.ts";

test("a second person agrees to all that the first one agreed to, or the question stays", async () => {
  const approvals = new Approvals(() => 0, "replica-");
  const question = {
    ...gateQuestion(),
    parts: ["a.txt", "b.txt"].map((name) => ({ id: name, name, rule: "", reason: "", needs: [] })),
  };
  const first = { question, without: [], user: "ada", workspace: "w" };
  const answer = approvals.ask(first, { signal: new AbortController().signal });
  const [open] = approvals.openTo("bob");
  expect([open?.id, approvals.openTo("ada")]).toEqual([expect.stringMatching(/^replica-/), []]);
  const { actionSha256, computed } = question;
  const yes = { kind: "confirmation", answer: "yes", scope: "once", reason: "", actionSha256 } as const;
  const say = (person: string, more: object) => () =>
    approvals.answer(person, open?.id ?? "", { ...yes, ...more }, computed.policySha256);
  expect(say("bob", { dropped: ["a.txt"] })).toThrow(/to nothing/);
  expect(say("ada", {})).toThrow(/another person/);
  say("bob", {})();
  expect(await answer).toEqual({ type: "yes", by: "bob", at: 0 });
});
