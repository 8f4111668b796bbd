import type { ClientRequest } from "@gennai/agent/events/client-request";
import { type EditorAnswer, isAnswerTo } from "@gennai/protocol/model/editor/editor-messages";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import { fitsQuestions } from "@gennai/protocol/model/governance/user-question";
import type { WorkspaceAnswer } from "./workspace-answer.ts";

/** What a client answered, in the server's own terms; one kind for each kind of request. */
export type ClientAnswer =
  | EditorAnswer
  | { readonly kind: "workspace"; readonly answer: WorkspaceAnswer }
  | {
      readonly kind: "confirmation";
      /** `none`: the client could ask nobody; never recorded as a person's word. */
      readonly answer: "yes" | "no" | "nobody" | "unclear";
      readonly scope: ConfirmationScope;
      readonly reason: string;
      readonly actionSha256: string;
      /** Id of the offered pattern that a yes holds for; absent: the exact action. */
      readonly pattern?: string;
      /** Ids of offered parts that shall not be kept; absent: all of them shall. */
      readonly dropped?: readonly string[];
    };

/** Whether an answer is one to this request: right kind, about the path that was asked for, a yes to the action that was shown. */
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
