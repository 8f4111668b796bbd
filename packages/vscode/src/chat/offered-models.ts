import type { ModelTrial } from "@gennai/client/host/model-choices";
import type { EditorModel } from "@gennai/client/host/window-requests";
import { errorMessage } from "@gennai/protocol/error-message";
import * as vscode from "vscode";
import { callLanguageModel } from "./language-model.ts";

/** Milliseconds; long, because the editor may ask its user first. */
const timeoutMs = 60_000;

/** Models that other extensions offer to every extension. */
export async function listEditorModels(): Promise<readonly EditorModel[]> {
  const models = await vscode.lm.selectChatModels();
  return models.map(({ vendor, id, maxInputTokens }) => ({ model: `${vendor}/${id}`, contextTokens: maxInputTokens }));
}

/** Asks a model for one word. Never rejects. */
export async function tryEditorModel(model: string): Promise<ModelTrial> {
  const began = performance.now();
  try {
    await callLanguageModel(
      JSON.stringify({
        model,
        system: "Answer with one word.",
        messages: [{ role: "user", text: "Say hello." }],
        tools: [],
      }),
      { signal: AbortSignal.timeout(timeoutMs) },
    );
    return { type: "answered", milliseconds: Math.round(performance.now() - began) };
  } catch (error) {
    return { type: "failed", problem: errorMessage(error), hint: "" };
  }
}
