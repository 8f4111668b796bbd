import type { MessageInitShape } from "@bufbuild/protobuf";
import { sha256Hex } from "@gennai/protocol/digest";
import {
  ConfirmationAnswer,
  type ConfirmationRequest,
  type ConfirmationResponseSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { misfitOf } from "@gennai/protocol/model/governance/offered-yes";
import { answerWords, questionFromMessage, scopeWords } from "@gennai/protocol/model/governance/question";
import type { ConfirmationQuestion, ConfirmationReply } from "../connection/editor.ts";

export function confirmationQuestion(message: ConfirmationRequest): ConfirmationQuestion {
  return {
    ...questionFromMessage(message),
    requestId: message.requestId,
    deadline: message.deadline === undefined ? undefined : new Date(Number(message.deadline.seconds) * 1000),
  };
}

/** False when what would be shown is not what would be approved. */
export function showsWhatItApproves(message: ConfirmationRequest): boolean {
  return sha256Hex(message.actionJson) === message.actionSha256;
}

/** Only an explicit yes becomes a yes, and only one that was offered. */
export function confirmationResponse(
  message: ConfirmationRequest,
  reply: ConfirmationReply,
): MessageInitShape<typeof ConfirmationResponseSchema> {
  const fields = { requestId: message.requestId, actionSha256: message.actionSha256 };
  if (reply.answer !== "yes") return { ...fields, answer: answerWords.toMessage(reply.answer), reason: reply.reason };
  const misfit = misfitOf(questionFromMessage(message), reply);
  if (misfit !== "") return { ...fields, answer: ConfirmationAnswer.NOBODY, reason: misfit };
  const { scope, pattern = "", dropped = [] } = reply;
  return {
    ...fields,
    answer: ConfirmationAnswer.YES,
    scope: scopeWords.toMessage(scope),
    patternId: pattern,
    droppedParts: [...dropped],
  };
}
