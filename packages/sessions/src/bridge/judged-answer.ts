import type { Answer, Question } from "@gennai/governance/confirmation";
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
  // A yes without the digest of this action, or with a scope that was not offered, is not a clear yes.
  if (answer.actionSha256 !== question.actionSha256) {
    return { type: "no", reason: "The answer did not name the action that was asked about.", by };
  }
  if (!question.offeredScopes.includes(answer.scope)) {
    return { type: "no", reason: `The scope "${answer.scope}" was not offered for this action.`, by };
  }
  const { pattern, dropped } = answer;
  if (dropped !== undefined) {
    const known = (question.parts ?? []).map(({ id }) => id);
    if (answer.scope !== "once" || pattern !== undefined || !dropped.every((id) => known.includes(id))) {
      return { type: "no", reason: "The answer named parts that were not offered for it.", by };
    }
    if (known.every((id) => dropped.includes(id))) return { type: "no", reason: "Nothing of it is to be kept.", by };
    return { type: "yes", scope: "once", by, dropped };
  }
  if (pattern === undefined) return { type: "yes", scope: answer.scope, by };
  if (
    (answer.scope !== "turn" && answer.scope !== "session") ||
    question.patterns?.some(({ id }) => id === pattern) !== true
  ) {
    return { type: "no", reason: "The answer named a pattern that was not offered for it.", by };
  }
  return { type: "yes", scope: answer.scope, by, pattern };
}
