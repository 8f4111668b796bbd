import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { Answer, Question } from "@gennai/governance/confirmation";
import { misfitOf } from "@gennai/protocol/model/governance/offered-yes";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import { type EditorAnswer, isAnswerTo } from "@gennai/protocol/model/session/editor-messages";
import { fitsQuestions } from "@gennai/protocol/model/session/user-question";
import type { WorkspaceAnswer } from "./workspace-answer.ts";

/** A client's answer in the server's terms; one kind for each kind of request. */
export type ClientAnswer =
  | EditorAnswer
  | { readonly kind: "workspace"; readonly answer: WorkspaceAnswer }
  | {
      readonly kind: "confirmation";
      /** `nobody`: the client has nobody to ask; never recorded as a person's answer. */
      readonly answer: "yes" | "no" | "nobody" | "unclear";
      readonly scope: ConfirmationScope;
      readonly reason: string;
      readonly actionSha256: string;
      /** Id of the offered pattern that a yes covers; absent: only the exact action. */
      readonly pattern?: string;
      /** Ids of offered parts not to keep; absent: all are kept. */
      readonly dropped?: readonly string[];
    };

/** Whether an answer fits this request: right kind, same path, a yes to the action that was shown. */
export function answersRequest(request: ClientRequest, answer: ClientAnswer): boolean {
  if (request.kind === "confirmation") {
    if (answer.kind !== "confirmation") return false;
    return answer.answer !== "yes" || answer.actionSha256 === request.question.actionSha256;
  }
  if (request.kind === "workspace") {
    if (answer.kind !== "workspace") return false;
    return answer.answer.type === "failure" || answer.answer.type === request.operation.type;
  }
  if (request.kind === "user-question" && answer.kind === "user-question") {
    return fitsQuestions(request.questions, answer.answer);
  }
  return answer.kind !== "confirmation" && answer.kind !== "workspace" && isAnswerTo(request, answer);
}

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
