// An extension of its own, which offers a language model to others: it reads a file and says what it got.
import * as vscode from "vscode";

const model = {
  id: "reader-1",
  name: "Reader",
  family: "reader",
  version: "1",
  maxInputTokens: 100_000,
  maxOutputTokens: 10_000,
  capabilities: { toolCalling: true },
};

export function activate(context: vscode.ExtensionContext): void {
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider("test-models", {
      provideLanguageModelChatInformation: () => [model],
      async provideLanguageModelChatResponse(_model, messages, { tools }, progress) {
        progress.report(answerTo(messages, tools ?? []));
      },
      provideTokenCount: async (_model, text) => JSON.stringify(text).length,
    }),
  );
}

function answerTo(
  messages: readonly vscode.LanguageModelChatRequestMessage[],
  tools: readonly vscode.LanguageModelChatTool[],
): vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart {
  const parts = messages.at(-1)?.content ?? [];
  const result = parts.find((part) => part instanceof vscode.LanguageModelToolResultPart);
  if (result === undefined) {
    if (!tools.some(({ name }) => name === "Read"))
      return new vscode.LanguageModelTextPart("There is nothing to read with.");
    const file_path = JSON.stringify(parts).includes("picture") ? "picture.png" : "README.md";
    return new vscode.LanguageModelToolCallPart("call-1", "Read", { file_path });
  }
  const images = messages
    .flatMap(({ content }) => content)
    .filter((part) => part instanceof vscode.LanguageModelDataPart);
  if (images.length > 0) {
    const seen = images.map(({ mimeType, data }) => `${mimeType} of ${data.length} bytes`);
    return new vscode.LanguageModelTextPart(`I see ${seen.join(", ")}.`);
  }
  const text = result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("");
  return new vscode.LanguageModelTextPart(text.includes("# Test") ? "The title is Test." : `I got ${text}`);
}
