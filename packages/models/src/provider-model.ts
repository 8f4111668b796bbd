import { setTimeout as wait } from "node:timers/promises";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  type Model,
  type ModelCapabilities,
  ModelError,
  type ModelEvent,
  type ModelRequest,
} from "@gennai/agent/model";
import { errorInStream, type FailureContext, providerFailure } from "./provider-failure.ts";
import { providerStateOf, type ThinkingBlock } from "./provider-prompt.ts";
import { SilenceWatch } from "./silence-watch.ts";

export interface ModelTiming {
  /** Requests in all, the first included. */
  readonly maxAttempts: number;
  /** Milliseconds before the second request; doubles with each further one. */
  readonly firstDelay: number;
  /** Milliseconds; a provider that asks for a longer wait is not waited for. */
  readonly longestDelay: number;
  /** Milliseconds without a sign of life after which an answer counts as dead. */
  readonly silence: number;
}

export const defaultTiming: ModelTiming = {
  maxAttempts: 4,
  firstDelay: 500,
  longestDelay: 30_000,
  silence: 300_000,
};

export interface ProviderModelOptions {
  readonly id: string;
  readonly chat: Pick<LanguageModelV4, "doStream">;
  readonly capabilities: ModelCapabilities;
  /** Tokens; 0 when unknown. */
  readonly maxContextTokens: number;
  readonly endpoint: Omit<FailureContext, "now">;
  readonly timing: ModelTiming;
  /** The request in the provider library's terms. The signal is the one its call will have. */
  readonly toCall: (
    request: ModelRequest,
    options: { readonly signal: AbortSignal },
  ) => Promise<LanguageModelV4CallOptions> | LanguageModelV4CallOptions;
}

/** A model behind a provider library: retries before the first token, watches for silence, and turns failures into `ModelError`. */
export class ProviderModel implements Model {
  readonly id: string;
  readonly capabilities: ModelCapabilities;
  readonly maxContextTokens: number;
  readonly #options: ProviderModelOptions;

  constructor(options: ProviderModelOptions) {
    this.id = options.id;
    this.capabilities = options.capabilities;
    this.maxContextTokens = options.maxContextTokens;
    this.#options = options;
  }

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    signal.throwIfAborted();
    // Ends the request also when the reader of this generator walks away.
    const ending = new AbortController();
    const watch = new SilenceWatch(this.#options.timing.silence);
    const abortSignal = AbortSignal.any([signal, ending.signal, watch.signal]);
    try {
      const call = { ...(await this.#options.toCall(request, { signal: abortSignal })), abortSignal };
      const stream = await this.#open(call, signal, watch);
      yield* this.#read(stream, request.enableThinking, watch);
    } catch (thrown) {
      signal.throwIfAborted();
      if (watch.signal.aborted) throw this.#silent();
      throw providerFailure(thrown, this.#context()).error;
    } finally {
      watch.stop();
      ending.abort(over);
    }
  }

  /** Sends the request, again when the provider was only busy. Nothing was received yet, so nothing can come twice. */
  async #open(
    call: LanguageModelV4CallOptions,
    signal: AbortSignal,
    watch: SilenceWatch,
  ): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const { maxAttempts, firstDelay, longestDelay } = this.#options.timing;
    for (let attempt = 1; ; attempt += 1) {
      watch.sign();
      try {
        const { stream } = await this.#options.chat.doStream(call);
        return stream;
      } catch (thrown) {
        signal.throwIfAborted();
        if (watch.signal.aborted) throw this.#silent();
        const failure = providerFailure(thrown, this.#context());
        const delay = failure.retryAfter ?? Math.min(longestDelay, firstDelay * 2 ** (attempt - 1));
        if (!failure.transient || attempt >= maxAttempts || delay > longestDelay) throw failure.error;
        watch.stop();
        await wait(delay, undefined, { signal });
      }
    }
  }

  async *#read(
    stream: ReadableStream<LanguageModelV4StreamPart>,
    enableThinking: boolean,
    watch: SilenceWatch,
  ): AsyncGenerator<ModelEvent> {
    let thinking: ThinkingBlock[] = [];
    const open = new Map<string, ThinkingBlock>();
    let responseModel: string | undefined;
    // The library ends a stream that brought an error part with a finish part: the error must win.
    for await (const part of stream) {
      // A reader that takes its time is not the provider's silence.
      watch.stop();
      switch (part.type) {
        case "response-metadata":
          responseModel = part.modelId;
          break;
        case "reasoning-start":
          open.set(part.id, { text: "", metadata: part.providerMetadata });
          break;
        case "reasoning-delta": {
          const block = open.get(part.id) ?? { text: "", metadata: undefined };
          open.set(part.id, { text: block.text + part.delta, metadata: part.providerMetadata ?? block.metadata });
          if (enableThinking && part.delta !== "") yield { type: "thinking-delta", text: part.delta };
          break;
        }
        case "reasoning-end": {
          const block = open.get(part.id);
          open.delete(part.id);
          if (block !== undefined) thinking.push({ ...block, metadata: part.providerMetadata ?? block.metadata });
          break;
        }
        case "text-delta":
          if (part.delta !== "") yield { type: "text-delta", text: part.delta };
          break;
        case "tool-input-start":
          yield { type: "tool-call-start", id: part.id, name: part.toolName };
          break;
        case "tool-input-delta":
          if (part.delta !== "") yield { type: "tool-call-delta", id: part.id, text: part.delta };
          break;
        case "tool-call": {
          const providerState = providerStateOf(this.id, thinking, part.providerMetadata);
          thinking = [];
          yield {
            type: "tool-call",
            id: part.toolCallId,
            name: part.toolName,
            argumentsJson: part.input,
            ...(providerState === undefined ? {} : { providerState }),
          };
          break;
        }
        case "error":
          throw errorInStream(part.error, this.#context());
        case "finish": {
          const { inputTokens, outputTokens } = part.usage;
          if (inputTokens.total !== undefined || outputTokens.total !== undefined) {
            yield {
              type: "usage",
              inputTokens: inputTokens.total ?? 0,
              outputTokens: outputTokens.total ?? 0,
              ...(inputTokens.cacheRead ? { cachedInputTokens: inputTokens.cacheRead } : {}),
            };
          }
          yield {
            type: "finish",
            reason: finishReasons[part.finishReason.unified] ?? "other",
            ...(responseModel === undefined ? {} : { responseModel }),
          };
          return;
        }
        default:
          break;
      }
      watch.sign();
    }
    throw new ModelError("bad_response", `${this.#options.endpoint.baseUrl} ended its answer without a finish.`, {
      retryable: true,
    });
  }

  #context(): FailureContext {
    return { ...this.#options.endpoint, now: Date.now() };
  }

  #silent(): ModelError {
    const seconds = Math.round(this.#options.timing.silence / 1000);
    return new ModelError("unreachable", `${this.#options.endpoint.baseUrl} was silent for ${seconds} s.`, {
      hint: "The model may still be loading or be too large for the machine: try again, or use a smaller one.",
      retryable: true,
    });
  }
}

/** Nobody asks why: one for all, since making an error costs a trace of the stack. */
const over = new Error("The answer is no longer read.");

type FinishReason = Extract<ModelEvent, { type: "finish" }>["reason"];

const finishReasons: Readonly<Partial<Record<string, FinishReason>>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls",
};
