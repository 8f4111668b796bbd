import type { Conversation } from "../conversation.ts";
import type { Compacted } from "../events/session-event.ts";
import type { TurnSink } from "../loop/turn-sink.ts";
import { asks, type Message, type Model, ModelError } from "../model.ts";
import { estimateMessage, estimateMessages } from "../use/token-estimate.ts";
import type { TurnBudget } from "../use/turn-budget.ts";
import { summarise } from "./summarise.ts";

/** Parts of the model's context: where a compaction begins, where the first stage is enough, and what stays as it is. */
const startAt = 0.8;
/** It never begins before this part is full, however long an answer may be. */
const neverBefore = 0.3;
const enoughAt = 0.6;
const keptPart = 0.25;
/** Characters for what the server recorded, however small the model. */
const leastRoom = 4_000;

export interface CompactionOptions {
  readonly conversation: Conversation;
  readonly model: Model;
  readonly sink: TurnSink;
  readonly signal: AbortSignal;
  readonly reason: Compacted["reason"];
  /** Tokens that the model can take; 0: not known. */
  readonly contextTokens: number;
  /** Tokens that were asked for an answer, for which there must be room; 0: nobody did. */
  readonly maxOutputTokens: number;
  /** Guess at what goes with every request: the system prompt and the tools. Tokens. */
  readonly overhead: number;
  readonly budget: TurnBudget | undefined;
}

type Room = Pick<CompactionOptions, "conversation" | "contextTokens" | "maxOutputTokens" | "overhead">;

/** True when the next request would come near to what the model can take. */
export function needsCompaction({ conversation, contextTokens, maxOutputTokens, overhead }: Room): boolean {
  const room = Math.min(contextTokens * startAt, contextTokens - maxOutputTokens);
  return contextTokens > 0 && conversation.tokens(overhead) > Math.max(room, contextTokens * neverBefore);
}

/** False where what goes with every request leaves so little that each model call would cost a compaction, and come near again. */
export function helpsBeforehand({ contextTokens, overhead }: Pick<Room, "contextTokens" | "overhead">): boolean {
  return overhead <= contextTokens * enoughAt;
}

/**
 * Makes the conversation shorter: first without large outputs of old calls, and if that is not enough, with one message in
 * place of all but the last ones. It holds what the server recorded, and a summary by the model if that can be had.
 * Undefined when there is nothing to shorten. Rejects when the signal aborts.
 */
export async function compact(options: CompactionOptions): Promise<Compacted | undefined> {
  const { conversation, sink, reason, contextTokens, overhead } = options;
  await sink.flush();
  const before = conversation.tokens(overhead);
  const window = contextTokens > 0 ? contextTokens : before;
  const cut = cutOf(conversation.messages, window * keptPart, reason !== "limit");
  const first = reason === "user" ? undefined : withoutOutputs(options, cut, before);
  if (first !== undefined) {
    sink.emit(first);
    await sink.flush();
    if (reason === "limit" && first.tokensAfter <= contextTokens * enoughAt) return first;
  }
  // One message that takes the place of one makes nothing shorter.
  if (cut < 2) return first;
  const room = Math.max(leastRoom, Math.floor(window * keptPart * 4));
  const summary = await summaryOf(options, conversation.messages.slice(0, cut), window);
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
 * How many of the first messages may go: those before the last ones that together take at most `room`. Never between a
 * call and its result; the last exchange always stays.
 */
function cutOf(messages: readonly Message[], room: number, onlyLast: boolean): number {
  const starts = messages.flatMap((message, index) => (message.role === "tool" ? [] : [index]));
  // What the model answered last, and the request it was an answer to when that is the message before.
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
  const { model, sink, signal, budget } = options;
  try {
    return await summarise(messages, {
      model,
      sink,
      signal,
      budget,
      contextTokens: options.contextTokens,
      maxTokens: Math.floor(window / 2),
    });
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
