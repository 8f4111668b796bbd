import { ServiceError } from "@gennai/machine/service-error";
import type { InvokeRequest, StartTurnRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { TurnInput } from "@gennai/sessions/turn/prepare-turn";
import { editorContextFromWire } from "./editor-context-wire.ts";

const maxInputCharacters = 1024 * 1024;

/** Throws `ServiceError` `invalid_argument`. */
export function turnInputFromWire(request: InvokeRequest | StartTurnRequest, clientTurnId: string): TurnInput {
  if (!/^[\x21-\x7e]{1,128}$/.test(clientTurnId)) {
    throw new ServiceError("invalid_argument", "client_turn_id has 1 to 128 visible ASCII characters.");
  }
  const { userInput, scenario, enableThinking, images } = request;
  if (userInput.trim() === "") throw new ServiceError("invalid_argument", "user_input is empty.");
  if (userInput.length > maxInputCharacters) {
    throw new ServiceError("invalid_argument", `user_input has at most ${maxInputCharacters} characters.`);
  }
  const editorContext = editorContextFromWire(request.editorContext);
  return {
    text: userInput,
    scenario,
    enableThinking,
    images,
    clientTurnId,
    ...(editorContext === undefined ? {} : { editorContext }),
  };
}
