import { errorMessage } from "@gennai/protocol/error-message";
import * as vscode from "vscode";
import { EditorError } from "../editor/editor-error.ts";
import {
  countedText,
  type ModelAnswerPart,
  type ModelMessage,
  type ModelPart,
  modelEvents,
  modelMessages,
  parseModelRequest,
} from "./model-request.ts";

/**
 * Asks one of the editor's own models. The answer is JSON with the events of the model contract. Rejects with `EditorError`
 * (`no_model`, `model_refused`), or with the signal's reason when it aborts.
 */
export async function callLanguageModel(
  requestJson: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<string> {
  const request = parseModelRequest(requestJson);
  const model = await selectModel(request.model);
  const cancellation = new vscode.CancellationTokenSource();
  const cancel = () => cancellation.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    signal.throwIfAborted();
    const messages = modelMessages(request).map(messageFrom);
    const response = await model.sendRequest(
      messages,
      {
        justification: "Gennai asks this model because a session uses the backend “editor”.",
        tools: request.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      },
      cancellation.token,
    );
    const parts: ModelAnswerPart[] = [];
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) parts.push({ type: "text", text: part.value });
      else if (part instanceof vscode.LanguageModelToolCallPart) {
        parts.push({ type: "tool-call", id: part.callId, name: part.name, input: part.input });
      }
    }
    signal.throwIfAborted();
    const text = parts.map((part) => (part.type === "text" ? part.text : JSON.stringify(part.input))).join("");
    const usage = {
      inputTokens: await tokensOf(model, countedText(request)),
      outputTokens: await tokensOf(model, text),
    };
    return JSON.stringify(modelEvents(parts, usage));
  } catch (error) {
    signal.throwIfAborted();
    throw modelFailure(error, model.name);
  } finally {
    signal.removeEventListener("abort", cancel);
    cancellation.dispose();
  }
}

/** @param wanted an id or family, optionally after a vendor and a slash; empty: the first available model */
async function selectModel(wanted: string): Promise<vscode.LanguageModelChat> {
  const slash = wanted.indexOf("/");
  const vendor = slash === -1 ? {} : { vendor: wanted.slice(0, slash) };
  const name = wanted.slice(slash + 1);
  const models = await vscode.lm.selectChatModels(vendor);
  const found = name === "" ? models[0] : models.find(({ id, family }) => id === name || family === name);
  if (found !== undefined) return found;
  const known = models.map(({ vendor: from, id }) => `${from}/${id}`).join(", ");
  throw new EditorError(
    "no_model",
    wanted === "" ? "The editor offers no language model." : `The editor offers no language model ${wanted}.`,
    known === "" ? "Install or sign in to one in the editor, or choose another backend." : `It offers ${known}.`,
  );
}

function messageFrom({ role, parts }: ModelMessage): vscode.LanguageModelChatMessage {
  if (role === "user") return vscode.LanguageModelChatMessage.User(parts.flatMap(userPart));
  return vscode.LanguageModelChatMessage.Assistant(parts.flatMap(assistantPart));
}

function userPart(
  part: ModelPart,
): (vscode.LanguageModelTextPart | vscode.LanguageModelDataPart | vscode.LanguageModelToolResultPart)[] {
  switch (part.type) {
    case "text":
      return [new vscode.LanguageModelTextPart(part.text)];
    case "image":
      return [vscode.LanguageModelDataPart.image(part.bytes, part.mediaType)];
    case "tool-result":
      return [new vscode.LanguageModelToolResultPart(part.id, [new vscode.LanguageModelTextPart(part.output)])];
    case "tool-call":
      return [];
  }
}

function assistantPart(part: ModelPart): (vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart)[] {
  switch (part.type) {
    case "text":
      return [new vscode.LanguageModelTextPart(part.text)];
    case "tool-call":
      return [new vscode.LanguageModelToolCallPart(part.id, part.name, part.input)];
    default:
      return [];
  }
}

async function tokensOf(model: vscode.LanguageModelChat, text: string): Promise<number> {
  try {
    return await model.countTokens(text);
  } catch {
    // Some providers do not count tokens; 0 means unknown.
    return 0;
  }
}

function modelFailure(error: unknown, name: string): EditorError {
  if (!(error instanceof vscode.LanguageModelError)) {
    const reason = errorMessage(error);
    return new EditorError("model_refused", `${name} gave no answer: ${reason}.`, "Try again.", { cause: error });
  }
  switch (error.code) {
    case vscode.LanguageModelError.NoPermissions.name:
      return new EditorError(
        "model_refused",
        `You have not allowed Gennai to use ${name}.`,
        "Allow it when the editor asks, or under “Manage Language Model Access”.",
        { cause: error },
      );
    case vscode.LanguageModelError.NotFound.name:
      return new EditorError("no_model", `${name} is not available any more.`, "Choose another model.", {
        cause: error,
      });
    case vscode.LanguageModelError.Blocked.name:
      return new EditorError(
        "model_refused",
        `${name} blocked the request: over its quota, or its content filter.`,
        "Wait and try again, or choose another model.",
        { cause: error },
      );
    default:
      return new EditorError("model_refused", `${name} gave no answer: ${error.message}.`, "Try again.", {
        cause: error,
      });
  }
}
