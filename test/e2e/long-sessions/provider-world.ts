import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { type Format, type WireWorld, type WorldOptions, wireWorld } from "../../wire/wire-world.ts";

/** A server whose sessions ask a provider on the loopback for a model that nobody knows. */
export function providerWorld(
  answer: Parameters<typeof wireWorld>[1],
  { backend = "openai-compatible", ...options }: WorldOptions & { readonly backend?: Format } = {},
): Promise<WireWorld> {
  return wireWorld(backend, answer, { model: "qwen3", ...options });
}

interface WireMessage {
  readonly role: string;
  readonly content: string;
}

/** Messages of a request, their content as text. */
export function messagesOf(request: ReceivedModelRequest | undefined): readonly WireMessage[] {
  const messages = request?.body["messages"];
  if (!Array.isArray(messages)) return [];
  return messages.map((message: { role?: unknown; content?: unknown }) => ({
    role: String(message.role),
    content: typeof message.content === "string" ? message.content : JSON.stringify(message.content ?? ""),
  }));
}

export function isSummaryRequest(request: ReceivedModelRequest): boolean {
  return messagesOf(request).at(-1)?.content.includes("Summarise this conversation.") === true;
}
