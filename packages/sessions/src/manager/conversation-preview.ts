import type { Message } from "@gennai/agent/model";

const maxMessageCharacters = 400;

/** The last messages in short, one a paragraph, for people. */
export function conversationPreview(messages: readonly Message[], maxMessages: number): string {
  return messages
    .filter((message) => message.role !== "note" || message.aside !== true)
    .slice(-maxMessages)
    .map((message) => {
      switch (message.role) {
        case "user":
          return `User: ${shortened(message.text)}`;
        case "note":
          return shortened(message.text);
        case "assistant": {
          const calls = message.toolCalls.map((call) => `[${call.name}]`).join(" ");
          return `Assistant: ${shortened([message.text, calls].filter((part) => part !== "").join(" "))}`;
        }
        case "tool":
          return `${message.name}${message.isError ? " failed" : ""}: ${shortened(message.output)}`;
      }
    })
    .join("\n\n");
}

function shortened(text: string): string {
  const flat = text.trim();
  return flat.length <= maxMessageCharacters ? flat : `${flat.slice(0, maxMessageCharacters).trimEnd()} …`;
}
