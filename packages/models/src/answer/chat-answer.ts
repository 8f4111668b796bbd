import {
  JSONParseError,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  TypeValidationError,
} from "@ai-sdk/provider";
import { StreamingToolCallTracker } from "@ai-sdk/provider-utils";
import type { AnswerBytes } from "./answer-bytes.ts";
import { type CallPiece, type ChatChunk, chatChunk } from "./chat-chunk.ts";
import { EventData } from "./event-data.ts";

type Part = LanguageModelV4StreamPart;
type Delta = NonNullable<ChatChunk["choices"][number]["delta"]>;

/**
 * A streamed chat completion in the provider library's terms. The library itself passes each event through a chain of five web streams, which
 * costs many times what there is to do.
 */
export async function* readChatAnswer(bytes: AnswerBytes): AsyncGenerator<Part> {
  const decoder = new TextDecoder();
  const events = new EventData();
  const answer = new ChatAnswer();
  let isRead = false;
  try {
    for (;;) {
      const { done, value } = await bytes.read();
      if (done) break;
      for (const data of events.take(decoder.decode(value, { stream: true }))) yield* answer.take(data);
    }
    isRead = true;
    yield* answer.end();
  } finally {
    if (!isRead) bytes.cancel();
  }
}

class ChatAnswer {
  #parts: Part[] = [];
  readonly #calls = new StreamingToolCallTracker<CallPiece>(
    { enqueue: (part) => void (part && this.#parts.push(part)) },
    { extractMetadata: thoughtSignature, buildToolCallProviderMetadata: (metadata) => metadata },
  );
  /** Pieces of calls whose name has not come, by their index. */
  readonly #nameless = new Map<number, CallPiece>();
  readonly #named = new Set<number>();
  #isKnown = false;
  #isThinking = false;
  #refused = false;
  #finish: string | undefined;
  #usage: ChatChunk["usage"];

  /** What an event says. Throws for a call that can never be one. */
  take(data: string): readonly Part[] {
    if (data !== "[DONE]") this.#takeJson(data);
    return this.#taken();
  }

  /** What is left when the stream has ended. */
  end(): readonly Part[] {
    this.#endThinking();
    for (const piece of this.#nameless.values()) this.#calls.processDelta(piece);
    this.#calls.flush();
    this.#parts.push({
      type: "finish",
      finishReason: finishReason(this.#finish, this.#refused),
      usage: usageOf(this.#usage),
    });
    return this.#taken();
  }

  #taken(): readonly Part[] {
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  #takeJson(data: string): void {
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch (cause) {
      this.#parts.push({ type: "error", error: new JSONParseError({ text: data, cause }) });
      return;
    }
    const error = typeof value === "object" && value !== null && "error" in value ? value.error : undefined;
    const chunk = error === undefined || error === null ? chatChunk.safeParse(value) : undefined;
    if (chunk?.success === true) this.#takeChunk(chunk.data);
    else if (chunk === undefined) this.#parts.push({ type: "error", error });
    else this.#parts.push({ type: "error", error: TypeValidationError.wrap({ value, cause: chunk.error }) });
  }

  #takeChunk({ id, model, created, usage, choices: [choice] }: ChatChunk): void {
    if (!this.#isKnown && (id || model || created)) {
      this.#isKnown = true;
      this.#parts.push({ type: "response-metadata", ...(model ? { modelId: model } : {}) });
    }
    this.#usage = usage ?? this.#usage;
    this.#finish = choice?.finish_reason ?? this.#finish;
    if (choice?.delta) this.#takeDelta(choice.delta);
  }

  #takeDelta(delta: Delta): void {
    this.#think(delta.reasoning_content ?? delta.reasoning ?? "");
    if (typeof delta.content === "string") this.#say(delta.content);
    else for (const part of delta.content ?? []) this.#takeContent(part);
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refused = true;
      this.#say(delta.refusal);
    }
    const pieces = delta.tool_calls ?? [];
    if (pieces.length > 0) this.#endThinking();
    for (const piece of pieces) this.#takeCall(piece);
  }

  #takeContent(part: Readonly<Record<string, unknown>>): void {
    if (part["type"] === "text" && typeof part["text"] === "string") this.#say(part["text"]);
    if (part["type"] !== "thinking" || !Array.isArray(part["thinking"])) return;
    for (const thought of part["thinking"] as readonly unknown[]) {
      if (typeof thought !== "object" || thought === null || Reflect.get(thought, "type") !== "text") continue;
      const text: unknown = Reflect.get(thought, "text");
      if (typeof text === "string") this.#think(text);
    }
  }

  #think(delta: string): void {
    if (delta === "") return;
    if (!this.#isThinking) this.#parts.push({ type: "reasoning-start", id: thinkingId });
    this.#isThinking = true;
    this.#parts.push({ type: "reasoning-delta", id: thinkingId, delta });
  }

  #endThinking(): void {
    if (this.#isThinking) this.#parts.push({ type: "reasoning-end", id: thinkingId });
    this.#isThinking = false;
  }

  #say(delta: string): void {
    if (delta === "") return;
    this.#endThinking();
    this.#parts.push({ type: "text-delta", id: "text", delta });
  }

  /** The library's tracker needs a call's name in its first piece, which some servers send later. */
  #takeCall(piece: CallPiece): void {
    const { index } = piece;
    if (typeof index !== "number" || this.#named.has(index)) {
      this.#calls.processDelta(piece);
      return;
    }
    const before = this.#nameless.get(index);
    const joined: CallPiece = {
      index,
      id: before?.id ?? piece.id,
      function: {
        name: piece.function.name,
        arguments: (before?.function.arguments ?? "") + (piece.function.arguments ?? ""),
      },
      extra_content: before?.extra_content ?? piece.extra_content,
    };
    if (typeof piece.function.name !== "string") {
      this.#nameless.set(index, joined);
      return;
    }
    this.#nameless.delete(index);
    this.#named.add(index);
    this.#calls.processDelta(joined);
  }
}

const thinkingId = "thinking";

/** Gemini signs a call, also where it speaks this format, and wants the signature back. */
function thoughtSignature({ extra_content: extra }: CallPiece) {
  const signature = extra?.google?.thought_signature;
  return signature ? { google: { thoughtSignature: signature } } : undefined;
}

function finishReason(raw: string | undefined, refused: boolean): LanguageModelV4FinishReason {
  if (raw === undefined) return { unified: "error", raw };
  if (raw === "stop" && refused) return { unified: "content-filter", raw };
  return { unified: finishReasons[raw] ?? "other", raw };
}

const finishReasons: Readonly<Partial<Record<string, LanguageModelV4FinishReason["unified"]>>> = {
  stop: "stop",
  length: "length",
  content_filter: "content-filter",
  function_call: "tool-calls",
  tool_calls: "tool-calls",
};

function usageOf(usage: ChatChunk["usage"]): LanguageModelV4Usage {
  if (!usage) {
    const none = undefined;
    return {
      inputTokens: { total: none, noCache: none, cacheRead: none, cacheWrite: none },
      outputTokens: { total: none, text: none, reasoning: none },
    };
  }
  const input = usage.prompt_tokens ?? 0;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const output = usage.completion_tokens ?? 0;
  const thinking = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: undefined },
    outputTokens: { total: output, text: Math.max(0, output - thinking), reasoning: thinking },
  };
}
