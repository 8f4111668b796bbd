import { type ClientEvent, CommandState } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import {
  ConfirmationAnswer,
  type ConfirmationResponse,
  ConfirmationScope,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { digest, requestId } from "@gennai/protocol/model/checked-field";
import { scopeWords } from "@gennai/protocol/model/governance/question";
import { answerFromEvent, answersEditorRequest } from "@gennai/protocol/model/session/editor-messages";
import type { ClientAnswer, ConfirmationReply } from "@gennai/sessions/bridge/client-answer";
import { workspaceAnswerFromWire } from "./workspace-wire.ts";

export interface IncomingAnswer {
  readonly requestId: string;
  readonly answer: ClientAnswer;
}

/** The answer in a client event; undefined when the event is not an answer to a request. Control fields it must not have are ignored. */
export function answerFromWire(event: ClientEvent["event"]): IncomingAnswer | undefined {
  if (answersEditorRequest(event)) {
    return { requestId: requestId(event.value.requestId), answer: answerFromEvent(event) };
  }
  if (event.case === "confirmationResponse") {
    return { requestId: requestId(event.value.requestId), answer: confirmation(event.value) };
  }
  if (event.case === "workspaceResponse") {
    const { requestId: id, result } = event.value;
    return { requestId: requestId(id), answer: { kind: "workspace", answer: workspaceAnswerFromWire(result) } };
  }
  return undefined;
}

/** True for "the command was typed and continues": the request stays open until a later response reports its end. */
export function isStillRunning(event: ClientEvent["event"]): boolean {
  return (
    event.case === "commandDispatchResponse" &&
    event.value.state === CommandState.RUNNING &&
    event.value.status === "SENT"
  );
}

const answers = new Map<ConfirmationAnswer, "yes" | "no" | "nobody">([
  [ConfirmationAnswer.YES, "yes"],
  [ConfirmationAnswer.NO, "no"],
  [ConfirmationAnswer.NOBODY, "nobody"],
]);

/** Throws `ServiceError` for what no client sends. */
export function confirmation(response: ConfirmationResponse): ConfirmationReply {
  return {
    kind: "confirmation",
    // Anything but a clear yes denies, an unknown number included.
    answer: answers.get(response.answer) ?? "unclear",
    scope:
      response.scope === ConfirmationScope.UNSPECIFIED
        ? "once"
        : scopeWords.checkedFromMessage(response.scope, "scope"),
    reason: response.reason,
    actionSha256: response.actionSha256,
    ...(response.patternId === "" ? {} : { pattern: digest(response.patternId) }),
    ...(response.droppedParts.length === 0 ? {} : { dropped: response.droppedParts.map(digest) }),
  };
}
