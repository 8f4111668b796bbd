import type { MessageInitShape } from "@bufbuild/protobuf";
import { sha256Hex } from "@gennai/protocol/digest";
import {
  ConfirmationAnswer,
  type ConfirmationRequest,
  type ConfirmationResponseSchema,
  ConfirmationScope as ScopeMessage,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { questionFromMessage, scopeWords } from "@gennai/protocol/model/governance/question";
import type { ConfirmationQuestion, ConfirmationReply } from "./editor.ts";

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

/** Only an explicit yes becomes a yes, and only for a scope that was offered. */
export function confirmationResponse(
  message: ConfirmationRequest,
  reply: ConfirmationReply,
): MessageInitShape<typeof ConfirmationResponseSchema> {
  const fields = { requestId: message.requestId, actionSha256: message.actionSha256 };
  if (reply.answer === "yes") {
    const droppedParts = [...(reply.dropped ?? [])];
    if (droppedParts.length > 0) {
      return { ...fields, answer: ConfirmationAnswer.YES, scope: ScopeMessage.ONCE, droppedParts };
    }
    const scope = scopeWords.toMessage(reply.scope);
    const offered = message.offeredScopes.includes(scope);
    if (!offered || scope === ScopeMessage.ONCE) {
      return { ...fields, answer: ConfirmationAnswer.YES, scope: ScopeMessage.ONCE };
    }
    // For the workspace there is only the exact action.
    if (scope === ScopeMessage.WORKSPACE) return { ...fields, answer: ConfirmationAnswer.YES, scope };
    const patternId = message.patterns.find(({ id }) => id === reply.pattern)?.id ?? "";
    // A yes to an unknown pattern counts only once.
    const lasting = patternId !== "" || reply.pattern === undefined;
    return { ...fields, answer: ConfirmationAnswer.YES, scope: lasting ? scope : ScopeMessage.ONCE, patternId };
  }
  if (reply.answer === "no") return { ...fields, answer: ConfirmationAnswer.NO, reason: reply.reason };
  return { ...fields, answer: ConfirmationAnswer.NOBODY, reason: reply.reason };
}
