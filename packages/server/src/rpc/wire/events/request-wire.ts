import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { questionToMessage } from "@gennai/protocol/model/governance/question";
import { requestToEvent } from "@gennai/protocol/model/session/editor-messages";
import { operationToWire } from "../workspace-wire.ts";

type WireEvent = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

export function requestToWire(request: ClientRequest): WireEvent {
  const common = {
    requestId: request.requestId,
    ownerEpoch: BigInt(request.ownerEpoch),
    deadline: request.deadline === 0 ? undefined : timestampFromMs(request.deadline),
  };
  switch (request.kind) {
    case "confirmation":
      return { case: "confirmationRequest", value: { ...questionToMessage(request.question), ...common } };
    case "workspace": {
      const operation = operationToWire(request.operation);
      return { case: "workspaceRequest", value: { ...common, clientId: request.clientId, operation } };
    }
    default:
      return requestToEvent(request, common);
  }
}
