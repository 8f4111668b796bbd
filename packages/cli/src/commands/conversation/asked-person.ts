import type { AskedPerson } from "../../client/headless-editor.ts";
import type { Paint } from "../../terminal/colours.ts";
import type { AskedQuestions } from "./input/asked-questions.ts";
import { ConfirmPanel } from "./input/confirm-panel.ts";
import { userQuestionPanel } from "./input/line-panels.ts";

/** A person who is asked where the prompt is. */
export function askedPerson(questions: AskedQuestions, paint: Paint): AskedPerson {
  return {
    confirm: async (question, { signal }) =>
      (await questions.ask(new ConfirmPanel(question, paint), { signal })) ?? {
        answer: "nobody",
        reason: "The question was left without an answer.",
      },
    askUser: async (asked, { signal }) => {
      const answers = [];
      for (const question of asked) {
        const answer = await questions.ask(userQuestionPanel(question, paint), { signal });
        if (answer === undefined) return { end: "cancelled" };
        answers.push(answer);
      }
      return { end: "answered", answers };
    },
  };
}
