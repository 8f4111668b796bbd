import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ClientRequest } from "@gennai/agent/client-request";
import type { Question } from "@gennai/governance/confirmation";
import type { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { EnumWords } from "@gennai/protocol/model/enum-words";
import { changeToWire } from "./change-wire.ts";
import { riskToWire } from "./governance-wire.ts";
import { operationToWire } from "./workspace-wire.ts";

type WireEvent = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

export const scopes = new EnumWords({
  once: ConfirmationScope.ONCE,
  turn: ConfirmationScope.TURN,
  session: ConfirmationScope.SESSION,
  workspace: ConfirmationScope.WORKSPACE,
});

export function requestToWire(request: ClientRequest): WireEvent {
  const common = {
    requestId: request.requestId,
    ownerEpoch: BigInt(request.ownerEpoch),
    ...(request.deadline === 0 ? {} : { deadline: timestampFromMs(request.deadline) }),
  };
  switch (request.kind) {
    case "file-read": {
      const { path, offset, limit, reason } = request;
      return { case: "requestFileRead", value: { ...common, path, offset, limit, reason } };
    }
    case "command": {
      const { command, cwd, terminalName, reveal } = request;
      return {
        case: "executeCommandRequest",
        value: { ...common, command, cwd, terminalName, ...(reveal === undefined ? {} : { reveal }) },
      };
    }
    case "confirmation":
      return { case: "confirmationRequest", value: { ...common, ...questionToWire(request.question) } };
    case "apply-changes":
      return {
        case: "applyChangesRequest",
        value: { ...common, changeSetId: request.changeSetId, changes: request.changes.map(changeToWire) },
      };
    case "model-call":
      return { case: "modelCallRequest", value: { ...common, requestJson: request.requestJson } };
    case "diagnostics":
      return { case: "diagnosticsRequest", value: { ...common, paths: [...request.paths] } };
    case "find-symbols":
      return { case: "findSymbolsRequest", value: { ...common, query: request.query, path: request.path } };
    case "workspace":
      return {
        case: "workspaceRequest",
        value: { ...common, clientId: request.clientId, operation: operationToWire(request.operation) },
      };
  }
}

function questionToWire(question: Question) {
  const { computed } = question;
  return {
    toolCallId: question.callId,
    title: question.title,
    intentReflection: question.intentReflection,
    actionStatement: question.actionStatement,
    impactStatement: question.impactStatement,
    modelClaim: question.modelClaim,
    computed: { ...computed, risk: riskToWire(computed.risk), paths: [...computed.paths] },
    actionJson: question.actionJson,
    actionSha256: question.actionSha256,
    rememberStatement: question.rememberStatement,
    offeredScopes: question.offeredScopes.map((scope) => scopes.toMessage(scope)),
    patterns: (question.patterns ?? []).map((pattern) => ({
      ...{ id: pattern.id, text: pattern.text, rule: pattern.rule },
      matchedBefore: [...pattern.matchedBefore],
      wouldMatch: [...pattern.wouldMatch],
      wouldNotMatch: [...pattern.wouldNotMatch],
    })),
  };
}
