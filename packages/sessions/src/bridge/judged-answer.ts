import type { Answer, Question } from "@gennai/governance/confirmation";
import { misfitOf } from "@gennai/protocol/model/governance/offered-yes";
import type { ClientAnswer } from "./client-answer.ts";

export type ConfirmationReply = Extract<ClientAnswer, { readonly kind: "confirmation" }>;

/** The meaning of a client's answer to a question: a yes that does not fit the question is a no. */
export function judgedAnswer(
  question: Question,
  answer: ConfirmationReply,
  by: string,
): Exclude<Answer, { readonly type: "timeout" }> {
  if (answer.answer === "nobody") return { type: "nobody" };
  if (answer.answer === "unclear") return { type: "unclear", by };
  if (answer.answer === "no") return { type: "no", reason: answer.reason, by };
  // A yes without the digest of this action is not a clear yes.
  if (answer.actionSha256 !== question.actionSha256) {
    return { type: "no", reason: "The answer did not name the action that was asked about.", by };
  }
  const misfit = misfitOf(question, answer);
  if (misfit !== "") return { type: "no", reason: misfit, by };
  const { scope, pattern, dropped } = answer;
  return {
    type: "yes",
    scope,
    by,
    ...(pattern === undefined ? {} : { pattern }),
    ...(dropped === undefined ? {} : { dropped }),
  };
}
