import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { Message } from "@gennai/agent/model";
import { toPrompt } from "./provider-prompt.ts";

/** Messages never change once a model was told them, so each is converted and encoded once for all requests; a comma leads. */
const encodings = new WeakMap<Message, Uint8Array>();

/** The conversation as elements of the JSON array `messages`, each behind a comma: the system message, then the messages. */
export async function encodeMessages(
  chat: OpenAICompatibleChatLanguageModel,
  system: string,
  messages: readonly Message[],
): Promise<readonly Uint8Array[]> {
  const added = messages.filter((message) => !encodings.has(message));
  if (added.length > 0) {
    const { body } = await chat.prepareRequest({ prompt: toPrompt("", "", added) });
    const converted: unknown = body["messages"];
    if (!Array.isArray(converted) || converted.length !== added.length) {
      throw new TypeError("The provider library did not make one message of each.");
    }
    for (const [index, message] of added.entries())
      encodings.set(message, Buffer.from(`,${JSON.stringify(converted[index])}`));
  }
  const encoded = messages.flatMap((message) => encodings.get(message) ?? []);
  return system === "" ? encoded : [Buffer.from(`,${JSON.stringify({ role: "system", content: system })}`), ...encoded];
}

/** A request's JSON with these messages in the place of its empty list of messages, in parts. */
export function withMessages(json: string, messages: readonly Uint8Array[]): readonly Uint8Array[] {
  // Quotes inside of JSON strings are escaped, so this can only be the key; the library writes it before the tools.
  const at = json.indexOf('"messages":[]');
  if (at === -1) throw new TypeError("The provider library's request has no list of messages.");
  const inside = at + '"messages":['.length;
  const parts: Uint8Array[] = [Buffer.from(json.slice(0, inside))];
  const [first, ...others] = messages;
  if (first !== undefined) parts.push(first.subarray(1), ...others);
  parts.push(Buffer.from(json.slice(inside)));
  return parts;
}
