import { setTimeout as wait } from "node:timers/promises";
import {
  JSONParseError,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  TypeValidationError,
} from "@ai-sdk/provider";
import { StreamingToolCallTracker } from "@ai-sdk/provider-utils";
import { continued, keptDetail, type ReasoningDetail, withoutText } from "../request/reasoning-details.ts";
import type { AnswerBytes } from "./answer-bytes.ts";
import { type CallPiece, type ChatChunk, chatChunk } from "./chat-chunk.ts";
import { EventData, isSignOfLife, type SentEvent } from "./event-data.ts";
import { toldReason } from "./told-reason.ts";

type Part = LanguageModelV4StreamPart;
type Delta = NonNullable<NonNullable<ChatChunk["choices"]>[number]["delta"]>;

/** Milliseconds in which tokens that were used are waited for behind the end: some servers leave the connection open then. */
const restWithin = 3_000;

/**
 * A streamed chat completion in the provider library's terms. The library itself passes each event through a chain of five web streams, which
 * costs many times what there is to do.
 */
export async function* readChatAnswer(bytes: AnswerBytes): AsyncGenerator<Part> {
  const decoder = new TextDecoder();
  const events = new EventData();
  const answer = new ChatAnswer();
  let isRead = false;
  let isFirst = true;
  try {
    for (;;) {
      const next = answer.isOver ? await restOf(bytes) : await bytes.read();
      isRead = next?.done === true;
      if (next === undefined || next.done) break;
      const text = decoder.decode(next.value, { stream: true });
      // A server that does not stream sends all of it in one object, which `readableAnswer` has put together.
      const isWhole = isFirst && text.trimStart().startsWith("{");
      for (const event of isWhole ? [{ name: "", data: text }] : events.take(text)) yield* answer.take(event);
      isFirst = false;
    }
    for (const event of events.end()) yield* answer.takeLast(event);
    yield* answer.end();
  } finally {
    if (!isRead) bytes.cancel();
  }
}

/** The next bytes of an answer that is whole, whatever becomes of its connection. */
async function restOf(bytes: AnswerBytes): Promise<Awaited<ReturnType<AnswerBytes["read"]>> | undefined> {
  const soon = new AbortController();
  try {
    return await Promise.race([bytes.read(), wait(restWithin, undefined, { signal: soon.signal })]);
  } catch {
    return undefined;
  } finally {
    soon.abort();
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
  #thought: Thought | undefined;
  #thoughts = 0;
  #refused = false;
  #says = false;
  #callsTools = false;
  #isDone = false;
  #finish: string | undefined;
  #usage: ChatChunk["usage"];
  /** Words of what is no piece of an answer. */
  #other = "";

  /** The server said that nothing follows but what was used. */
  get isOver(): boolean {
    return this.#isDone || this.#finish !== undefined;
  }

  /** What an event says. Throws for a call that can never be one. */
  take({ name, data }: SentEvent): readonly Part[] {
    const values = jsonValues(data);
    for (const value of values ?? []) this.#takeValue(name, value);
    if (/^\s*\[DONE\]\s*$/im.test(data)) this.#isDone = true;
    else if (values === undefined && !isSignOfLife(data) && !this.isOver)
      this.#parts.push({ type: "error", error: new JSONParseError({ text: data, cause: undefined }) });
    return this.#taken();
  }

  /** An event that had no end: nothing if it is cut. */
  takeLast(event: SentEvent): readonly Part[] {
    return jsonValues(event.data) === undefined ? [] : this.take(event);
  }

  /** What is left when the stream has ended. */
  end(): readonly Part[] {
    this.#endThinking();
    if (!this.#isKnown && this.#other !== "") this.#parts.push({ type: "error", error: this.#other });
    if (this.#isDone && this.#says) this.#finish ??= this.#callsTools ? "tool_calls" : "stop";
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

  #takeValue(name: string, value: unknown): void {
    const { success, data: chunk, error: cause } = chatChunk.safeParse(value);
    const error = success ? errorIn(name, value, chunk) : TypeValidationError.wrap({ value, cause });
    if (error !== undefined) {
      if (!this.isOver) this.#parts.push({ type: "error", error });
    } else if (success && !chunk.choices && !chunk.usage) this.#other ||= toldReason(value);
    else if (success) this.#takeChunk(chunk);
  }

  #takeChunk({ model, usage, choices }: ChatChunk): void {
    const choice = choices?.[0];
    if (!this.#isKnown && choice !== undefined) {
      this.#isKnown = true;
      this.#parts.push({ type: "response-metadata", ...(model ? { modelId: model } : {}) });
    }
    this.#usage = usage ?? this.#usage;
    // An empty one is none.
    this.#finish = choice?.finish_reason || this.#finish;
    const delta = choice?.delta ?? choice?.message;
    if (delta) this.#takeDelta(delta);
    // It comes behind all choices: https://platform.openai.com/docs/api-reference/chat-streaming/streaming
    else if (choice === undefined && usage && this.#says) this.#isDone = true;
  }

  #takeDelta(delta: Delta): void {
    const details = delta.reasoning_details ?? [];
    // They hold the same text.
    if (!details.some((detail) => withoutText(detail).text !== ""))
      this.#think(delta.reasoning_content ?? delta.reasoning ?? "");
    for (const detail of details) this.#thinkDetail(detail);
    if (typeof delta.content === "string") this.#say(delta.content);
    else for (const part of delta.content ?? []) this.#takeContent(part);
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refused = true;
      this.#say(delta.refusal);
    }
    const pieces = delta.tool_calls ?? [];
    if (pieces.length > 0) this.#endThinking();
    this.#callsTools ||= pieces.length > 0;
    this.#says ||= this.#callsTools;
    for (const piece of pieces) this.#takeCall(piece);
  }

  #takeContent(part: unknown): void {
    const text = textOf(part);
    if (text !== undefined) this.#say(text);
    if (typeof part !== "object" || part === null || Reflect.get(part, "type") !== "thinking") return;
    const thoughts: unknown = Reflect.get(part, "thinking");
    for (const thought of Array.isArray(thoughts) ? thoughts : []) this.#think(textOf(thought) ?? "");
  }

  #think(delta: string, detail?: ReasoningDetail): void {
    if (delta === "" && detail === undefined) return;
    this.#says = true;
    if (this.#thought === undefined) {
      this.#thoughts += 1;
      this.#thought = { id: `thinking-${this.#thoughts}`, detail };
      this.#parts.push({ type: "reasoning-start", id: this.#thought.id });
    }
    this.#parts.push({ type: "reasoning-delta", id: this.#thought.id, delta });
  }

  #thinkDetail(piece: ReasoningDetail): void {
    const { text, rest } = withoutText(piece);
    const begun = this.#thought?.detail;
    const detail = begun === undefined ? undefined : continued(begun, rest);
    if (this.#thought === undefined || detail === undefined) this.#endThinking();
    else this.#thought.detail = detail;
    this.#think(text, rest);
  }

  #endThinking(): void {
    if (this.#thought === undefined) return;
    const { id, detail } = this.#thought;
    this.#parts.push({
      type: "reasoning-end",
      id,
      ...(detail === undefined ? {} : { providerMetadata: keptDetail(detail) }),
    });
    this.#thought = undefined;
  }

  #say(delta: string): void {
    if (delta === "") return;
    this.#says = true;
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
        name: piece.function?.name,
        arguments: (before?.function?.arguments ?? "") + (piece.function?.arguments ?? ""),
      },
      extra_content: before?.extra_content ?? piece.extra_content,
    };
    if (typeof piece.function?.name !== "string") {
      this.#nameless.set(index, joined);
      return;
    }
    this.#nameless.delete(index);
    this.#named.add(index);
    this.#calls.processDelta(joined);
  }
}

/** A block of thinking that has not ended. */
interface Thought {
  readonly id: string;
  detail: ReasoningDetail | undefined;
}

/** The values of an event: one, or one a line by servers that leave out the empty line between events. Undefined: it has none. */
function jsonValues(data: string): readonly unknown[] | undefined {
  for (const texts of [[data], data.split("\n").filter((line) => line.trim() !== "" && line.trim() !== "[DONE]")]) {
    try {
      return texts.map((text): unknown => JSON.parse(text));
    } catch {
      // Told by what is given back.
    }
  }
  return undefined;
}

/** What an event reports in place of a piece of an answer, in the forms of OpenAI, OpenRouter, vLLM and others. */
function errorIn(name: string, value: unknown, { error, choices, object, type }: ChatChunk): unknown {
  return error || choices?.[0]?.error || ([name, object, type].includes("error") ? value : undefined);
}

function textOf(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  if (typeof part !== "object" || part === null || Reflect.get(part, "type") !== "text") return undefined;
  const text: unknown = Reflect.get(part, "text");
  return typeof text === "string" ? text : undefined;
}

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
