import { createHash } from "node:crypto";
import type {
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import {
  asks,
  type Message,
  type MessageCall,
  type ModelRequest,
  type ProviderState,
  userSideText,
} from "@gennai/agent/model";
import { parsedJson } from "@gennai/protocol/json-value";
import { z } from "zod";

type PromptMessage = LanguageModelV4Prompt[number];
type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];

/** A block of thinking as the provider streamed it. */
export interface ThinkingBlock {
  readonly text: string;
  readonly metadata: SharedV4ProviderOptions | undefined;
}

interface PromptOptions {
  readonly systemOptions?: SharedV4ProviderOptions;
  /** `text` where the library wraps errors in JSON of its own: ours are JSON that says so. */
  readonly errorsAs?: "error-text" | "text";
  /** For providers that take no ids of calls but such as they make themselves: another model may have made these. */
  readonly plainIds?: true;
  /** `apart`: results contain only text, and images follow them (`imagesBehindResults`). */
  readonly resultImages?: "apart";
}

/** A request's messages in the provider library's terms; neighbouring tool results are one of them. */
export function toPrompt(
  model: string,
  system: string,
  messages: readonly Message[],
  options: PromptOptions = {},
): LanguageModelV4Prompt {
  const { systemOptions } = options;
  const prompt: LanguageModelV4Prompt = [];
  if (system !== "") {
    prompt.push({
      role: "system",
      content: system,
      ...(systemOptions === undefined ? {} : { providerOptions: systemOptions }),
    });
  }
  for (const message of messages) appendMessage(prompt, model, message, options);
  return prompt;
}

/** The tools of a request in the provider library's terms. */
export function toTools(request: ModelRequest): Pick<LanguageModelV4CallOptions, "tools"> {
  if (request.tools.length === 0) return {};
  return {
    tools: request.tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      name,
      description,
      inputSchema,
    })),
  };
}

/** What is kept of an answer for later requests; undefined when the provider sent nothing to keep. */
export function providerStateOf(
  model: string,
  thinking: readonly ThinkingBlock[],
  call: SharedV4ProviderOptions | undefined,
  { plainThinking = false }: { readonly plainThinking?: boolean } = {},
): ProviderState | undefined {
  const blocks = thinking.filter(({ text, metadata }) => metadata !== undefined || (plainThinking && text !== ""));
  if (blocks.length === 0 && call === undefined) return undefined;
  return {
    thinking: blocks.map(({ text }) => text).join(""),
    opaque: JSON.stringify({
      model,
      blocks: blocks.map(({ text, metadata }) => ({ length: text.length, metadata })),
      call,
    }),
  };
}

/** True when the first call since the user last spoke has lost its thinking, by masking or a compaction. */
export function lostThinking(model: string, messages: readonly Message[]): boolean {
  const lastUser = messages.findLastIndex(asks);
  const first = messages.slice(lastUser + 1).find((message) => message.role === "assistant");
  if (first?.role !== "assistant" || first.toolCalls.length === 0) return false;
  return first.toolCalls.every((call) => readState(model, call).blocks.length === 0);
}

function appendMessage(prompt: LanguageModelV4Prompt, model: string, message: Message, options: PromptOptions): void {
  switch (message.role) {
    case "note":
      prompt.push({ role: "user", content: [{ type: "text", text: message.text }] });
      return;
    case "user": {
      const text = userSideText(message);
      prompt.push({
        role: "user",
        content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...(message.images ?? []).map(imagePart)],
      });
      return;
    }
    case "assistant":
      prompt.push({ role: "assistant", content: knownParts(model, message, options) });
      return;
    case "tool": {
      const part: ToolPart = {
        type: "tool-result",
        toolCallId: callId(message.id, options),
        toolName: callName(message.name),
        output: resultOutput(message, options),
      };
      const last = prompt.at(-1);
      if (last?.role === "tool") last.content.push(part);
      else prompt.push({ role: "tool", content: [part] });
      return;
    }
  }
}

function resultOutput(
  { output, isError, images = [] }: Extract<Message, { role: "tool" }>,
  { errorsAs = "error-text", resultImages }: PromptOptions,
): Extract<ToolPart, { type: "tool-result" }>["output"] {
  if (isError) return { type: errorsAs, value: output };
  if (images.length === 0 || resultImages === "apart") return { type: "text", value: output };
  return { type: "content", value: [{ type: "text", text: output }, ...images.map(imagePart)] };
}

function imagePart(bytes: Uint8Array) {
  return {
    type: "file" as const,
    // The library finds the exact type from the bytes.
    mediaType: "image",
    data: { type: "data" as const, data: bytes },
  };
}

/** Messages never change once a model was told them, and each request holds all of them. */
const converted = new WeakMap<Message, { readonly model: string; readonly parts: readonly AssistantPart[] }>();

function knownParts(
  model: string,
  message: Extract<Message, { role: "assistant" }>,
  options: PromptOptions,
): AssistantPart[] {
  let known = converted.get(message);
  if (known?.model !== model) {
    known = { model, parts: assistantParts(model, message, options) };
    converted.set(message, known);
  }
  return [...known.parts];
}

function assistantParts(
  model: string,
  message: Extract<Message, { role: "assistant" }>,
  options: PromptOptions,
): AssistantPart[] {
  const parts: AssistantPart[] = [];
  let text = message.text;
  const say = () => {
    if (text !== "") parts.push({ type: "text", text });
    text = "";
  };
  for (const call of message.toolCalls) {
    const state = readState(model, call);
    for (const { text: thought, metadata } of state.blocks) {
      parts.push({
        type: "reasoning",
        text: thought,
        ...(metadata === undefined ? {} : { providerOptions: metadata }),
      });
    }
    // The answer's text comes after the thinking it began with.
    say();
    parts.push({
      type: "tool-call",
      toolCallId: callId(call.id, options),
      toolName: callName(call.name),
      input: parsedInput(call.argumentsJson),
      ...(state.call === undefined ? {} : { providerOptions: state.call }),
    });
  }
  say();
  return parts;
}

/** The same for a call and its result, without storing a list. */
function callId(id: string, { plainIds }: PromptOptions): string {
  if (plainIds !== true || /^[a-zA-Z0-9_-]{1,64}$/.test(id)) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

/** Models also call what is not a name. Providers refuse the whole conversation for one that they do not take. */
function callName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain.slice(0, 63)}`;
}

/** Arguments that are no JSON object were refused as such; providers take back objects only. */
function parsedInput(argumentsJson: string): unknown {
  try {
    const parsed: unknown = JSON.parse(argumentsJson, wellFormed);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {
    // Told below.
  }
  return { malformed_arguments: argumentsJson };
}

/** Half a character, which an escape can spell, would have the whole conversation refused. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

const jsonValue: z.ZodType<JSONValue> = z.json();
const optionsSchema = z.record(z.string(), z.record(z.string(), jsonValue));
const opaqueSchema = z.object({
  model: z.string(),
  blocks: z.array(z.object({ length: z.int().nonnegative(), metadata: optionsSchema.optional() })),
  call: optionsSchema.optional(),
});

interface ReadState {
  readonly blocks: readonly ThinkingBlock[];
  readonly call: SharedV4ProviderOptions | undefined;
}

const nothing: ReadState = { blocks: [], call: undefined };

/** Nothing when another model wrote it: signatures hold only for their own. */
function readState(model: string, { providerState }: MessageCall): ReadState {
  if (providerState === undefined) return nothing;
  const { data: opaque } = opaqueSchema.safeParse(parsedJson(providerState.opaque));
  if (opaque?.model !== model) return nothing;
  let at = 0;
  const blocks = opaque.blocks.map(({ length, metadata }) => {
    const text = providerState.thinking.slice(at, at + length);
    at += length;
    return { text, metadata };
  });
  return { blocks, call: opaque.call };
}
