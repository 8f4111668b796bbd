import type { ClientRequest } from "@gennai/agent/events/client-request";
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
