import { ServiceError } from "@gennai/machine/service-error";
import type {
  InvokeRequest,
  QueueMessageRequest,
  StartTurnRequest,
  EditorContext as WireContext,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { EditorContext } from "@gennai/sessions/context/editor-context";
import type { TurnInput } from "@gennai/sessions/turn/prepare-turn";
import type { SaidMessage } from "@gennai/sessions/turn/queue-message";

const maxInputCharacters = 1024 * 1024;

/** Throws `ServiceError` `invalid_argument`. */
export function turnInputFromWire(request: InvokeRequest | StartTurnRequest, clientTurnId: string): TurnInput {
  assertId("client_turn_id", clientTurnId);
  const { userInput, scenario, enableThinking, images } = request;
  const agreed = "branchTask" in request && request.branchTask !== "" ? { branchTask: request.branchTask } : {};
  if ("continueTurnId" in request && request.continueTurnId !== "") {
    if (userInput !== "" || scenario !== "" || images.length > 0 || request.editorContext !== undefined) {
      throw new ServiceError("invalid_argument", "A turn that goes on with another one has no prompt of its own.");
    }
    const continues = request.continueTurnId;
    return { text: "", scenario, enableThinking, images, clientTurnId, continues, ...agreed };
  }
  assertText("user_input", userInput);
  const editorContext = editorContextFromWire(request.editorContext);
  return {
    text: userInput,
    scenario,
    enableThinking,
    images,
    clientTurnId,
    ...agreed,
    ...("runsCommand" in request && request.runsCommand ? { isCommand: true } : {}),
    ...(editorContext === undefined ? {} : { editorContext }),
  };
}

/** Throws `ServiceError` `invalid_argument`. */
export function saidMessageFromWire({ messageId, text, images }: QueueMessageRequest): SaidMessage {
  assertId("message_id", messageId);
  assertText("text", text);
  return { messageId, text, images };
}

export function assertId(field: string, id: string): void {
  if (!/^[\x21-\x7e]{1,128}$/.test(id)) {
    throw new ServiceError("invalid_argument", `${field} has 1 to 128 visible ASCII characters.`);
  }
}

export function assertText(field: string, text: string): void {
  if (text.trim() === "") throw new ServiceError("invalid_argument", `${field} is empty.`);
  if (text.length > maxInputCharacters) {
    throw new ServiceError("invalid_argument", `${field} has at most ${maxInputCharacters} characters.`);
  }
}

const maxPath = 4096;
const maxOpenFiles = 200;
const maxText = 256 * 1024;

function editorContextFromWire(wire: WireContext | undefined): EditorContext | undefined {
  if (wire === undefined) return undefined;
  const { activeFile, activeText, selection, openFiles } = wire;
  if ([activeFile, ...openFiles].some((path) => path.length > maxPath)) {
    throw new ServiceError("invalid_argument", `A path of editor_context has at most ${maxPath} characters.`);
  }
  if (openFiles.length > maxOpenFiles) {
    throw new ServiceError("invalid_argument", `editor_context.open_files has at most ${maxOpenFiles} paths.`);
  }
  if (selection !== undefined && selection.text.length > maxText) {
    throw new ServiceError("invalid_argument", `editor_context.selection.text has at most ${maxText} characters.`);
  }
  if (activeText.length > maxText) {
    throw new ServiceError("invalid_argument", `editor_context.active_text has at most ${maxText} characters.`);
  }
  if (selection !== undefined && (selection.startLine < 1 || selection.endLine < selection.startLine)) {
    throw new ServiceError(
      "invalid_argument",
      "editor_context.selection counts lines from 1, the last not before the first.",
    );
  }
  return {
    activeFile,
    selection:
      selection === undefined || selection.text === ""
        ? undefined
        : { startLine: selection.startLine, endLine: selection.endLine, text: selection.text },
    openFiles,
    activeText,
    other: "",
  };
}
