import {
  type Message,
  type Model,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  userSideText,
} from "@gennai/agent/model";
import { z } from "zod";
import { imagesBehindResults } from "./request/images-behind-results.ts";

/** Sends a request as JSON to the editor that is attached. Throws `ModelError`. */
export type AskEditor = (requestJson: string, options: { readonly signal: AbortSignal }) => Promise<string>;

const event = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text-delta"), text: z.string() }),
  z.object({ type: z.literal("thinking-delta"), text: z.string() }),
  z.object({ type: z.literal("tool-call-start"), id: z.string().min(1), name: z.string() }),
  z.object({ type: z.literal("tool-call-delta"), id: z.string().min(1), text: z.string() }),
  z.object({ type: z.literal("tool-call"), id: z.string().min(1), name: z.string(), argumentsJson: z.string() }),
  z.object({
    type: z.literal("usage"),
    inputTokens: z.int().nonnegative(),
    outputTokens: z.int().nonnegative(),
  }),
  z.object({ type: z.literal("finish"), reason: z.enum(["stop", "tool-calls", "length", "content-filter", "other"]) }),
]);

/** Ends with how it ended, as every model does. */
const answerSchema = z
  .array(event)
  .min(1)
  .refine((events) => events.findIndex(({ type }) => type === "finish") === events.length - 1);

/** A model of the user's editor. Its answer comes whole: the bridge has no stream upwards. */
export class EditorModel implements Model {
  readonly id: string;
  readonly capabilities = { toolCalling: true, thinking: false, vision: true, structuredOutput: false };
  readonly maxContextTokens = 0;
  readonly #model: string;
  readonly #ask: AskEditor | undefined;

  /** @param ask undefined outside a turn: there is nobody to ask */
  constructor(model: string, ask: AskEditor | undefined) {
    this.id = `editor/${model === "" ? "default" : model}`;
    this.#model = model;
    this.#ask = ask;
  }

  async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    if (this.#ask === undefined) {
      throw new ModelError("not_configured", "The editor's model is asked through an editor, in a turn.", {
        hint: "Start the session from VS Code, or choose another backend.",
      });
    }
    yield* parseAnswer(await this.#ask(requestJson(this.#model, request), options));
  }
}

function requestJson(model: string, { system, messages, tools, maxOutputTokens }: ModelRequest): string {
  return JSON.stringify({ model, system, messages: sent(messages), tools, maxOutputTokens });
}

function sent(messages: readonly Message[]): readonly object[] {
  return imagesBehindResults(messages).flatMap(({ message, images }) =>
    images === undefined ? [sentMessage(message)] : [sentMessage(message), sentMessage(images)],
  );
}

function sentMessage(message: Message): object {
  if (message.role === "tool") {
    const { images: _, ...text } = message;
    return text;
  }
  if (message.role === "assistant") return message;
  const images = message.role === "user" ? message.images : undefined;
  return {
    role: "user",
    text: userSideText(message),
    images: images?.map((image) => Buffer.from(image).toString("base64")),
  };
}

function parseAnswer(json: string): readonly ModelEvent[] {
  try {
    return answerSchema.parse(JSON.parse(json));
  } catch (cause) {
    throw new ModelError("bad_response", "The editor's model answered with something that is not an answer.", {
      hint: "Update the extension, or choose another backend.",
      retryable: true,
      cause,
    });
  }
}
