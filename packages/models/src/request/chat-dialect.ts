import { createHash } from "node:crypto";
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { saysOverflow } from "./overflow-words.ts";
import { withDetails } from "./reasoning-details.ts";

/** What a chat-completions server takes beyond the protocol's common part. Servers differ, and say so only by refusing. */
export interface ChatDialect {
  /** Takes `reasoning_effort`. */
  readonly effort: boolean;
  /** Where thinking is sent, as `reasoning_content`: with calls that had some, with every call (even if empty), or never. */
  readonly thinking: "as-made" | "with-every-call" | "never";
  /** Takes what the user's side says right behind a tool's result; others want the model to have answered before. */
  readonly userBehindResult: boolean;
  /** What ids of calls look like: anything, or nine letters and digits. */
  readonly callIds: "any" | "nine";
  /** Takes images. */
  readonly images: boolean;
  /** Takes `stream_options`, by which it says what was used. */
  readonly usage: boolean;
  /** What it calls the most that an answer may have; undefined: it takes no such limit. */
  readonly limit: "max_tokens" | "max_completion_tokens" | undefined;
}

export const commonDialect: ChatDialect = {
  effort: true,
  thinking: "as-made",
  userBehindResult: true,
  callIds: "any",
  images: true,
  usage: true,
  limit: "max_tokens",
};

/** By base URL and model. For this process: each costs one refused request. */
const learned = new Map<string, ChatDialect>();

export function chatDialect(server: string): ChatDialect {
  return learned.get(server) ?? commonDialect;
}

/**
 * Takes from a refusal how this server wants it; false when the refusal is about something else.
 * @param made the dialect of the request that was refused: others may have learned since it was sent
 */
export function learnDialect(server: string, made: ChatDialect, refusal: string): boolean {
  const known = chatDialect(server);
  const next = dialectAfter(known, refusal);
  if (next !== undefined) learned.set(server, next);
  return next !== undefined || known !== made;
}

function dialectAfter(known: ChatDialect, refusal: string): ChatDialect | undefined {
  if (/reasoning_content/i.test(refusal)) {
    const wanted = /missing|must be|passed back|required/i.test(refusal);
    // One that refuses both ways is refusing something else.
    if (known.thinking !== "as-made") return undefined;
    return { ...known, thinking: wanted ? "with-every-call" : "never" };
  }
  // The words of Mistral, of what others build upon its library, and of the templates of its models. Neighbours of the user's side are
  // one message anyway.
  if (/unexpected role \W*user\W+after (?:role )?\W*tool|roles must alternate/i.test(refusal)) {
    return known.userBehindResult ? { ...known, userBehindResult: false } : undefined;
  }
  if (/tool call id .*length of 9/i.test(refusal)) {
    return known.callIds === "any" ? { ...known, callIds: "nine" } : undefined;
  }
  if (takesNoImages.test(refusal)) {
    return known.images ? { ...known, images: false } : undefined;
  }
  if (/stream_options|include_usage/i.test(refusal)) return known.usage ? { ...known, usage: false } : undefined;
  // https://platform.openai.com/docs/api-reference/chat/create: models that think take the one, older servers the other.
  if (/max_tokens/i.test(refusal) && !saysOverflow(refusal)) {
    if (/max_completion_tokens/i.test(refusal) && known.limit === "max_tokens")
      return { ...known, limit: "max_completion_tokens" };
    return known.limit === undefined ? undefined : { ...known, limit: undefined };
  }
  const isEffort = /reasoning.?effort|not support (?:thinking|reasoning)|think value/i.test(refusal);
  return isEffort && known.effort ? { ...known, effort: false } : undefined;
}

/** The words of DeepSeek, OpenAI, llama.cpp, OpenRouter, vLLM and others: about the model, and not about one image. */
const takesNoImages =
  /unknown variant .?image_url|image_url is only|image inputs? (?:is|are) not|not support image(?!\/| (?:format|type|url))|found that support image input|not a multimodal model/i;

/** The prompt with its thinking where this server wants it, and ids that it takes. */
export function inDialect({ thinking, callIds }: ChatDialect, prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return withThinking(thinking, withDetails(callIds === "nine" ? prompt.map(withShortIds) : prompt));
}

function withThinking(thinking: ChatDialect["thinking"], prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  if (thinking === "as-made") return prompt;
  return prompt.map((message) => {
    if (message.role !== "assistant") return message;
    if (thinking === "never")
      return { ...message, content: message.content.filter(({ type }) => type !== "reasoning") };
    const calls = message.content.some(({ type }) => type === "tool-call");
    const thought = message.content.some(({ type }) => type === "reasoning");
    if (!calls || thought) return message;
    const { openaiCompatible } = message.providerOptions ?? {};
    return { ...message, providerOptions: { openaiCompatible: { ...openaiCompatible, reasoning_content: "" } } };
  });
}

function withShortIds(message: LanguageModelV4Prompt[number]): LanguageModelV4Prompt[number] {
  if (message.role === "assistant") {
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === "tool-call" ? { ...part, toolCallId: shortId(part.toolCallId) } : part,
      ),
    };
  }
  if (message.role !== "tool") return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "tool-result" ? { ...part, toolCallId: shortId(part.toolCallId) } : part,
    ),
  };
}

/** The same for a call and its result, without storing a list. */
function shortId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);
}
