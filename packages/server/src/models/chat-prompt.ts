import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { Message, ModelRequest } from "@gennai/agent/model";

export type ChatModel = OpenAICompatibleChatLanguageModel;
export type ChatCall = Parameters<ChatModel["doStream"]>[0];
type ChatMessage = ChatCall["prompt"][number];
type ToolResultPart = Extract<ChatMessage, { role: "tool" }>["content"][number];

/** Messages in the provider library's terms; neighbouring tool results are one of them. */
export function toChatPrompt(messages: readonly Message[]): ChatMessage[] {
  const prompt: ChatMessage[] = [];
  for (const message of messages) appendMessage(prompt, message);
  return prompt;
}

/** A model request in the provider library's terms, without its messages. */
export function toChatCall(request: ModelRequest): ChatCall {
  return {
    prompt: [],
    ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => ({
            type: "function" as const,
            name: tool.name,
            description: tool.description,
            inputSchema: tool.inputSchema,
          })),
        }),
  };
}

function appendMessage(prompt: ChatMessage[], message: Message): void {
  switch (message.role) {
    case "user":
      prompt.push({
        role: "user",
        content: [
          { type: "text", text: message.text },
          ...(message.images ?? []).map((bytes) => ({
            type: "file" as const,
            // The library finds the exact type from the bytes.
            mediaType: "image",
            data: { type: "data" as const, data: bytes },
          })),
        ],
      });
      return;
    case "assistant":
      prompt.push({
        role: "assistant",
        content: [
          ...(message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
          ...message.toolCalls.map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: call.name,
            input: call.argumentsJson,
          })),
        ],
      });
      return;
    case "tool": {
      const part: ToolResultPart = {
        type: "tool-result",
        toolCallId: message.id,
        toolName: message.name,
        output: { type: message.isError ? "error-text" : "text", value: message.output },
      };
      const last = prompt.at(-1);
      if (last?.role === "tool") last.content.push(part);
      else prompt.push({ role: "tool", content: [part] });
      return;
    }
  }
}
