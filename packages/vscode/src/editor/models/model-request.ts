import * as z from "zod/mini";
import { EditorError } from "../editor-error.ts";

const toolCall = z.object({ id: z.string(), name: z.string(), argumentsJson: z.string() });

const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text: z.string(), images: z.optional(z.array(z.base64())) }),
  z.object({ role: z.literal("assistant"), text: z.string(), toolCalls: z.array(toolCall) }),
  z.object({ role: z.literal("tool"), id: z.string(), name: z.string(), output: z.string(), isError: z.boolean() }),
]);

const requestSchema = z.object({
  /** Which of the editor's models; empty: the editor's choice. */
  model: z._default(z.string(), ""),
  system: z.string(),
  messages: z.array(message),
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
  ),
});

/** A request of the server in the model contract's shape; images are base64. */
export type ModelRequest = z.infer<typeof requestSchema>;

/** One message to the editor's model: it knows users and assistants, and no system. */
export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly parts: readonly ModelPart[];
}

export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly input: Record<string, unknown> }
  | { readonly type: "tool-result"; readonly id: string; readonly output: string };

/** What the editor's model answers with, piece by piece. */
export type ModelAnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly input: unknown };

/** Throws `EditorError` for what is not a request. */
export function parseModelRequest(json: string): ModelRequest {
  try {
    return requestSchema.parse(JSON.parse(json));
  } catch (cause) {
    throw new EditorError(
      "model_refused",
      "The request to the editor's model cannot be read.",
      "Update the extension.",
      { cause },
    );
  }
}

/** The conversation as the editor's model takes it; the system prompt is its first message. */
export function modelMessages(request: ModelRequest): readonly ModelMessage[] {
  const messages: { role: "user" | "assistant"; parts: ModelPart[] }[] = [];
  const add = (role: "user" | "assistant", parts: readonly ModelPart[]) => {
    const last = messages.at(-1);
    // Results of one answer's calls belong into one message.
    if (last?.role === role) last.parts.push(...parts);
    else messages.push({ role, parts: [...parts] });
  };
  if (request.system !== "") add("user", [{ type: "text", text: request.system }]);
  for (const message of request.messages) {
    switch (message.role) {
      case "user": {
        const images = (message.images ?? []).map((image): ModelPart => {
          const bytes = Uint8Array.from(atob(image), (character) => character.charCodeAt(0));
          return { type: "image", bytes, mediaType: mediaTypeOf(bytes) };
        });
        const text: ModelPart[] = message.text === "" ? [] : [{ type: "text", text: message.text }];
        if (text.length + images.length > 0) add("user", [...text, ...images]);
        break;
      }
      case "assistant": {
        const text: ModelPart[] = message.text === "" ? [] : [{ type: "text", text: message.text }];
        const calls = message.toolCalls.map(
          ({ id, name, argumentsJson }): ModelPart => ({ type: "tool-call", id, name, input: inputOf(argumentsJson) }),
        );
        if (text.length + calls.length > 0) add("assistant", [...text, ...calls]);
        break;
      }
      case "tool":
        add("user", [
          {
            type: "tool-result",
            id: message.id,
            output: message.isError ? `Error: ${message.output}` : message.output,
          },
        ]);
    }
  }
  return messages;
}

/** What of a request is counted in tokens: not the letters in which images travel, of which one would count for a long conversation. */
export function countedText(request: ModelRequest): string {
  const messages = request.messages.map((each) => {
    if (each.role !== "user") return each;
    const { images: _, ...words } = each;
    return words;
  });
  return JSON.stringify(Object.assign({}, request, { messages }));
}

/** The answer as the events of the model contract. Text that comes in a row becomes one event: it travels at once. */
export function modelEvents(
  parts: readonly ModelAnswerPart[],
  usage: { readonly inputTokens: number; readonly outputTokens: number },
): readonly Record<string, unknown>[] {
  const events: Record<string, unknown>[] = [];
  let text = "";
  const flush = () => {
    if (text !== "") events.push({ type: "text-delta", text });
    text = "";
  };
  let calls = 0;
  for (const part of parts) {
    if (part.type === "text") {
      text += part.text;
      continue;
    }
    flush();
    const { id, name } = part;
    calls++;
    events.push({ type: "tool-call-start", id, name });
    events.push({ type: "tool-call", id, name, argumentsJson: JSON.stringify(part.input ?? {}) });
  }
  flush();
  events.push({ type: "usage", ...usage }, { type: "finish", reason: calls > 0 ? "tool-calls" : "stop" });
  return events;
}

/** Arguments that a model wrote wrong are no object, and its next turn must see what it wrote. */
function inputOf(argumentsJson: string): Record<string, unknown> {
  try {
    const parsed = z.record(z.string(), z.unknown()).safeParse(JSON.parse(argumentsJson));
    if (parsed.success) return parsed.data;
  } catch {
    // Kept as text below.
  }
  return { arguments: argumentsJson };
}

function mediaTypeOf(bytes: Uint8Array): string {
  if (bytes[0] === 0x89) return "image/png";
  if (bytes[0] === 0x47) return "image/gif";
  return bytes[0] === 0x52 ? "image/webp" : "image/jpeg";
}
