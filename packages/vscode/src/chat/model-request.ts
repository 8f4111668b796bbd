import * as z from "zod/mini";
import { EditorError } from "../editor/editor-error.ts";

const toolCall = z.object({ id: z.string(), name: z.string(), argumentsJson: z.string() });

const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text: z.string(), images: z.optional(z.array(z.base64())) }),
  z.object({ role: z.literal("assistant"), text: z.string(), toolCalls: z.array(toolCall) }),
  z.object({ role: z.literal("tool"), id: z.string(), name: z.string(), output: z.string(), isError: z.boolean() }),
]);

const requestSchema = z.object({
  /** Name of one of the editor's models; empty: the editor's choice. */
  model: z._default(z.string(), ""),
  system: z.string(),
  messages: z.array(message),
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
  ),
});

/** A request of the server, in the shape of the model contract; images are base64. */
export type ModelRequest = z.infer<typeof requestSchema>;

/** One message for the editor's model, which knows only the roles user and assistant, and no system prompt. */
export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly parts: readonly ModelPart[];
}

export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly input: Record<string, unknown> }
  | { readonly type: "tool-result"; readonly id: string; readonly output: string };

/** A part of the answer of the editor's model. */
export type ModelAnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly input: unknown };

/** Throws `EditorError` for a text that is not a request. */
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

/** The conversation in the form of the editor's model; the system prompt becomes the first message. */
export function modelMessages(request: ModelRequest): readonly ModelMessage[] {
  const messages: { role: "user" | "assistant"; parts: ModelPart[] }[] = [];
  const add = (role: "user" | "assistant", parts: readonly ModelPart[]) => {
    const last = messages.at(-1);
    // The results of all calls of one answer belong into one message.
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

/** The text of a request whose tokens are counted, without base64 images: one would count as much as a long conversation. */
export function countedText(request: ModelRequest): string {
  const messages = request.messages.map((each) => {
    if (each.role !== "user") return each;
    const { images: _, ...words } = each;
    return words;
  });
  return JSON.stringify(Object.assign({}, request, { messages }));
}

/** The answer as the events of the model contract. Consecutive text becomes one event, because the answer is sent as a whole. */
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

/** Arguments that are not a JSON object are kept as text: in its next turn, the model must see what it wrote. */
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
