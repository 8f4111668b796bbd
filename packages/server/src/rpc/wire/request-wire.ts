import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ClientRequest } from "@gennai/agent/client-request";
import type { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { questionToMessage } from "@gennai/protocol/model/question";
import { changeToWire } from "./change-wire.ts";
import { operationToWire } from "./workspace-wire.ts";

type WireEvent = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

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
      return { case: "confirmationRequest", value: { ...common, ...questionToMessage(request.question) } };
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
