import { expect, test } from "vitest";
import type { Answer, Question } from "#confirmation";
import { type AskedAction, answerTo } from "#gate/confirm/ask-person";
import { RememberedAnswers } from "#gate/confirm/remembered-answers";
import { gateWith } from "../gate-with.ts";

const yes: Answer & { readonly type: "yes" } = { type: "yes", scope: "once", by: "ada" };

/** Answers every question, as an approved plan does. */
class Known extends RememberedAnswers {
  override find() {
    return yes;
  }
}

test.each<[string, Answer, RememberedAnswers, Answer["type"]]>([
  ["a yes of both", { ...yes, second: { by: "bob", at: 1 } }, new RememberedAnswers(), "yes"],
  ["a yes of one", yes, new RememberedAnswers(), "nobody"],
  [
    "a question that another agent puts to its user",
    { type: "passed-on", by: "codex" },
    new RememberedAnswers(),
    "nobody",
  ],
  ["an answer that is known", { type: "no", reason: "", by: "ada" }, new Known(), "no"],
])("where two persons have to agree, %s", async (_what, said, remembered, wanted) => {
  const question = { secondPerson: true, offeredScopes: ["once"], computed: { risk: "low" } } as unknown as Question;
  const asked = { question, facts: { rules: [] }, patterns: [] } as unknown as AskedAction;
  const context = { signal: new AbortController().signal } as Parameters<typeof answerTo>[1];
  const answer = await answerTo(asked, context, gateWith({ remembered, confirmer: { ask: async () => said } }));
  expect(answer.type).toBe(wanted);
});
