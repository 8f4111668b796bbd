import { estimateMessage, estimateMessages } from "../conversation/token-estimate.ts";
import type { Compacted } from "../events/session-event.ts";
import { asks, type Message, ModelError } from "../model.ts";
import { type ShorteningOptions, summarise } from "./summarise.ts";

/**
 * Fractions of the model's context: at which compaction begins, below which the first stage is enough, and how much of
 * the newest messages is kept.
 */
const startAt = 0.8;
/** Compaction never begins before this fraction is full, however many tokens an answer may take. */
const neverBefore = 0.3;
const enoughAt = 0.6;
const keptPart = 0.25;
/** Minimum characters for what the server recorded, even for a small model. */
const leastRoom = 4_000;

export interface CompactionOptions extends ShorteningOptions {
  readonly reason: Compacted["reason"];
  /** Tokens requested for the answer; room is kept for them. 0: not set. */
  readonly maxOutputTokens: number;
}

type Room = Pick<CompactionOptions, "conversation" | "contextTokens" | "maxOutputTokens" | "overhead">;

/** True when the next request would come near to what the model can take. */
export function needsCompaction({ conversation, contextTokens, maxOutputTokens, overhead }: Room): boolean {
  const room = Math.min(contextTokens * startAt, contextTokens - maxOutputTokens);
  return contextTokens > 0 && conversation.tokens(overhead) > Math.max(room, contextTokens * neverBefore);
}

/** False if the fixed part of every request is so large that each model call would need another compaction. */
export function helpsBeforehand({ contextTokens, overhead }: Pick<Room, "contextTokens" | "overhead">): boolean {
  return overhead <= contextTokens * enoughAt;
}

/**
 * Makes the conversation shorter: first by dropping large outputs of old calls; if that is not enough, by replacing all
 * but the last messages with one. That message holds what the server recorded and, if the model can write one, a
 * summary. Undefined if there is nothing to shorten. Rejects when the signal aborts.
 */
export async function compact(options: CompactionOptions): Promise<Compacted | undefined> {
  const { conversation, sink, reason, contextTokens, overhead } = options;
  await sink.flush();
  const before = conversation.tokens(overhead);
  const window = contextTokens > 0 ? contextTokens : before;
  const cut = cutOf(conversation.messages, window * keptPart, reason !== "limit");
  // As the model had them: with their outputs.
  const summarised = conversation.messages.slice(0, cut);
  const first = reason === "user" ? undefined : withoutOutputs(options, cut, before);
  if (first !== undefined) {
    sink.emit(first);
    await sink.flush();
    if (reason === "limit" && first.tokensAfter <= contextTokens * enoughAt) return first;
  }
  // Replacing a single message with another one makes nothing shorter.
  if (cut < 2) return first;
  const room = Math.max(leastRoom, Math.floor(window * keptPart * 4));
  const summary = await summaryOf(options, summarised, window);
  const tokens = first?.tokensAfter ?? before;
  const message = conversation.compactedMessage({ summary, dropped: cut, room });
  const dropped = estimateMessages(conversation.messages.slice(0, cut));
  const event: Compacted = {
    type: "compacted",
    stage: "summary",
    reason,
    summary,
    room,
    dropped: cut,
    kept: conversation.messages.length - cut,
    tokensBefore: before,
    tokensAfter: Math.max(0, tokens - dropped) + estimateMessage(message),
  };
  sink.emit(event);
  await sink.flush();
  return event;
}

function withoutOutputs(
  { conversation, reason }: CompactionOptions,
  cut: number,
  tokensBefore: number,
): Compacted | undefined {
  const { messages } = conversation;
  const outputs = conversation.largeOutputs(cut);
  if (outputs.size === 0) return undefined;
  let saved = 0;
  for (const [index, message] of outputs) {
    const old = messages[index];
    saved += (old === undefined ? 0 : estimateMessage(old)) - estimateMessage(message);
  }
  return {
    type: "compacted",
    stage: "outputs",
    reason,
    summary: "",
    room: 0,
    dropped: cut,
    tokensBefore,
    kept: messages.length - cut,
    tokensAfter: Math.max(0, tokensBefore - saved),
  };
}

/**
 * How many of the first messages can be dropped so that the rest takes at most `room` tokens. Never cuts between a call
 * and its result; the last exchange always stays.
 */
function cutOf(messages: readonly Message[], room: number, onlyLast: boolean): number {
  const starts = messages.flatMap((message, index) => (message.role === "tool" ? [] : [index]));
  // The last answer, and the request just before it, if there is one.
  let cut = starts.at(-1) ?? 0;
  if (messages[cut]?.role === "assistant") {
    const request = messages
      .slice(0, cut)
      .findLastIndex((message) => message.role !== "note" || message.aside !== true);
    const asked = messages[request];
    if (asked !== undefined && asks(asked)) cut = request;
  }
  if (onlyLast) return cut;
  let tokens = estimateMessages(messages.slice(cut));
  for (const start of starts.filter((index) => index < cut).reverse()) {
    tokens += estimateMessages(messages.slice(start, cut));
    if (tokens > room) break;
    cut = start;
  }
  return cut;
}

async function summaryOf(options: CompactionOptions, messages: readonly Message[], window: number): Promise<string> {
  const { sink, signal, reason } = options;
  try {
    const maxTokens = Math.floor(window / 2);
    return await summarise(messages, { ...options, maxTokens, overflows: reason === "overflow" });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    sink.emit({
      type: "warning",
      text: "The model gave no summary of what was said before; what the server recorded of it is kept.",
    });
    return "";
  }
}
