import type { MessageInitShape } from "@bufbuild/protobuf";
import { sha256Hex } from "@gennai/protocol/digest";
import {
  ConfirmationAnswer,
  type ConfirmationRequest,
  type ConfirmationResponseSchema,
  ConfirmationScope as ScopeMessage,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { riskWord } from "../governance/governance-words.ts";
import type { ConfirmationQuestion, ConfirmationReply, ConfirmationScope } from "./editor.ts";

export function questionFromMessage(message: ConfirmationRequest): ConfirmationQuestion {
  return {
    requestId: message.requestId,
    toolCallId: message.toolCallId,
    title: message.title,
    intentReflection: message.intentReflection,
    actionStatement: message.actionStatement,
    impactStatement: message.impactStatement,
    modelClaim: message.modelClaim,
    computed: {
      // A risk that this client does not know is taken for the highest.
      risk: riskWord(message.computed?.risk) ?? "high",
      paths: message.computed?.paths ?? [],
      rule: message.computed?.rule ?? "",
      reason: message.computed?.reason ?? "",
      policySha256: message.computed?.policySha256 ?? "",
    },
    actionJson: message.actionJson,
    rememberStatement: message.rememberStatement,
    offeredScopes: message.offeredScopes.flatMap((scope) => scopeWords[scope] ?? []),
    patterns: message.patterns.map(({ id, text, rule, matchedBefore, wouldMatch, wouldNotMatch }) => ({
      ...{ id, text, rule, matchedBefore, wouldMatch, wouldNotMatch },
    })),
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
    const scope = scopeMessages[reply.scope];
    const offered = message.offeredScopes.includes(scope);
    if (!offered || scope === ScopeMessage.ONCE) {
      return { ...fields, answer: ConfirmationAnswer.YES, scope: ScopeMessage.ONCE };
    }
    // For the workspace there is only the exact action.
    if (scope === ScopeMessage.WORKSPACE) return { ...fields, answer: ConfirmationAnswer.YES, scope };
    const patternId = message.patterns.find(({ id }) => id === reply.pattern)?.id ?? "";
    // A yes to a pattern that is not there is no yes to anything longer than this once.
    const lasting = patternId !== "" || reply.pattern === undefined;
    return { ...fields, answer: ConfirmationAnswer.YES, scope: lasting ? scope : ScopeMessage.ONCE, patternId };
  }
  if (reply.answer === "no") return { ...fields, answer: ConfirmationAnswer.NO, reason: reply.reason };
  return { ...fields, answer: ConfirmationAnswer.UNSPECIFIED, reason: reply.reason };
}

const scopeMessages: Record<ConfirmationScope, ScopeMessage> = {
  once: ScopeMessage.ONCE,
  turn: ScopeMessage.TURN,
  session: ScopeMessage.SESSION,
  workspace: ScopeMessage.WORKSPACE,
};

const scopeWords: Partial<Record<ScopeMessage, ConfirmationScope>> = {
  [ScopeMessage.ONCE]: "once",
  [ScopeMessage.TURN]: "turn",
  [ScopeMessage.SESSION]: "session",
  [ScopeMessage.WORKSPACE]: "workspace",
};
