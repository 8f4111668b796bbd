import { type Message, userSideText } from "../model.ts";

/** Assumed tokens of an image. */
const imageTokens = 1_500;

const known = new WeakMap<Message, number>();

/** Estimated tokens of a text; only the provider can count exactly. Errs on the high side for prose. */
export function estimateText(text: string): number {
  let wide = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x2e7f) wide++;
  return Math.ceil((text.length - wide) / 4 + wide);
}

/** @param message must not change afterwards, because the result is cached */
export function estimateMessage(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  const tokens = countedMessage(message);
  known.set(message, tokens);
  return tokens;
}

export function estimateMessages(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages) tokens += estimateMessage(message);
  return tokens;
}

function countedMessage(message: Message): number {
  switch (message.role) {
    case "user":
      return 4 + estimateText(userSideText(message)) + (message.images?.length ?? 0) * imageTokens;
    case "note":
      return 4 + estimateText(message.text);
    case "assistant":
      return message.toolCalls.reduce(
        (sum, call) => sum + 8 + estimateText(call.argumentsJson) + estimateText(call.providerState?.thinking ?? ""),
        4 + estimateText(message.text),
      );
    case "tool":
      return 8 + estimateText(message.output) + (message.images?.length ?? 0) * imageTokens;
  }
}
