import type { Conversation } from "../conversation/conversation.ts";
import { estimateText } from "../conversation/token-estimate.ts";
import { ModelError, type ToolDefinition } from "../model.ts";
import { type CompactionOptions, compact, helpsBeforehand, needsCompaction } from "./compact.ts";
import type { TurnOptions } from "./turn-loop.ts";

/** A request up to this many tokens fits into any model. */
const smallRequest = 2_000;

type RoomOptions = Pick<
  TurnOptions,
  "conversation" | "model" | "sink" | "signal" | "budget" | "request" | "contextTokens" | "instructions" | "mayCompact"
> & {
  /** The tools that the model is told of next. */
  readonly definitions: () => readonly ToolDefinition[];
  /** Is told when older messages were removed from the conversation. */
  compacted(): void;
};

/** Sees to it that each request fits into what the model can take. */
export class ContextRoom {
  readonly #options: RoomOptions;
  #toolTokens: { readonly of: readonly ToolDefinition[]; readonly tokens: number } | undefined;
  #measured = { system: "", tokens: 0 };
  #overflowed = false;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Estimated tokens of the next request. */
  tokens(system: string): number {
    return this.#options.conversation.tokens(this.#overhead(system));
  }

  /** Compacts the conversation before a model call, if needed. Returns the system prompt. */
  async prepare(): Promise<string> {
    const system = await this.#instruct();
    await this.#findWindow(system);
    const room = this.#room(system);
    if (!needsCompaction(room)) return system;
    if (helpsBeforehand(room)) return (await this.#compact("limit", system)) ?? system;
    const { conversation, contextTokens, overhead, sink } = room;
    if (!warned.has(conversation)) {
      warned.add(conversation);
      sink.emit({ type: "warning", text: tooSmall(contextTokens, overhead) });
    }
    return system;
  }

  /** After a request that was too long: makes it shorter, once in a turn. Throws `error` where that does not help. */
  async shorten(system: string, error: ModelError): Promise<string> {
    const shorter = this.#overflowed ? undefined : await this.#compact("overflow", system);
    if (shorter === undefined) throw stillTooLong(error);
    this.#overflowed = true;
    return shorter;
  }

  /**
   * Compacts the conversation. Returns the new system prompt, which is not part of what is compacted; undefined if
   * nothing could be compacted.
   */
  async #compact(reason: "limit" | "overflow", system: string): Promise<string | undefined> {
    if ((await this.#options.mayCompact?.()) === false) return undefined;
    const done = await compact({ ...this.#room(system), reason });
    if (done === undefined) return undefined;
    this.#options.compacted();
    return this.#instruct();
  }

  /**
   * Adds to the log which instructions changed since the last model call. Returns the system prompt, which changes only
   * at a compaction.
   */
  async #instruct(): Promise<string> {
    const { conversation, instructions, sink } = this.#options;
    const changed = conversation.changedInstructions(await instructions());
    if (changed !== undefined) {
      sink.emit(changed);
      await sink.flush();
    }
    return conversation.system;
  }

  /** Looks up the model's context size, where the request may not fit into any: Ollama gives a model no more than 4,096 tokens by default. */
  async #findWindow(system: string): Promise<void> {
    const { conversation, model, signal, contextTokens = 0 } = this.#options;
    if (contextTokens > 0 || model.maxContextTokens > 0) return;
    if (conversation.tokens(this.#overhead(system)) > smallRequest) await model.findContextTokens?.({ signal });
  }

  #room(system: string): Omit<CompactionOptions, "reason"> {
    const { conversation, model, sink, signal, budget } = this.#options;
    const { maxOutputTokens } = this.#options.request;
    const contextTokens = this.#options.contextTokens || model.maxContextTokens;
    const overhead = this.#overhead(system);
    return { conversation, model, sink, signal, budget, contextTokens, maxOutputTokens, overhead };
  }

  #overhead(system: string): number {
    // Cached: the prompt is mostly the same, and is measured twice for each request.
    if (system !== this.#measured.system) this.#measured = { system, tokens: estimateText(system) };
    const definitions = this.#options.definitions();
    if (definitions !== this.#toolTokens?.of)
      this.#toolTokens = { of: definitions, tokens: estimateText(JSON.stringify(definitions)) };
    return this.#measured.tokens + this.#toolTokens.tokens;
  }
}

/** Conversations whose user was warned that the model's context is too small. */
const warned = new WeakSet<Conversation>();

function tooSmall(contextTokens: number, overhead: number): string {
  const [all, taken] = [contextTokens, overhead].map((tokens) => tokens.toLocaleString("en"));
  return `The model's context is small: ${all} tokens, of which instructions and tools take about ${taken}. Give it more (Ollama: OLLAMA_CONTEXT_LENGTH=64000), or use another.`;
}

function stillTooLong(cause: ModelError): ModelError {
  return new ModelError("context_overflow", `It cannot be made short enough: ${cause.message}`, {
    hint: "The last message is too long by itself. Ask for less at once, or use a model with a larger context.",
    cause,
  });
}
