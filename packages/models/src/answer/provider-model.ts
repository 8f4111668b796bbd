import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  type Model,
  type ModelCapabilities,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  type ToolDefinition,
} from "@gennai/agent/model";
import { asSentence } from "@gennai/protocol/as-sentence";
import { providerStateOf, type ThinkingBlock } from "../request/provider-prompt.ts";
import { finishReasonOf, isCut } from "./finish-reason.ts";
import {
  BrokenAnswer,
  cutAnswer,
  errorInStream,
  type FailureContext,
  noAnswer,
  type ProviderFailure,
  providerFailure,
  refusalOf,
} from "./provider-failure.ts";
import { type RefusedPart, rememberRefused, withoutPart, withoutRefused } from "./refused-parts.ts";
import { leftOut, refusedTool, withoutRefusedTools } from "./refused-tools.ts";
import { askingAgain, lastFailure } from "./retry-words.ts";
import { SilenceWatch } from "./silence-watch.ts";

export interface ModelTiming {
  /** Requests in all, the first included. */
  readonly maxAttempts: number;
  /** The same where nobody has ever answered: an address that is wrong stays wrong. */
  readonly firstContactAttempts: number;
  /** The same where an answer fell silent in its middle: each costs a silence. */
  readonly silentAttempts: number;
  /** Milliseconds before the second request; doubles with each further one, until the longest. */
  readonly firstDelay: number;
  readonly longestDelay: number;
  /** Milliseconds; a provider that asks for a longer wait is not waited for. */
  readonly longestAsked: number;
  /** Milliseconds without a sign of life after which an answer counts as dead. */
  readonly silence: number;
}

export const defaultTiming: ModelTiming = {
  maxAttempts: 10,
  firstContactAttempts: 5,
  silentAttempts: 3,
  firstDelay: 500,
  longestDelay: 30_000,
  longestAsked: 3_600_000,
  silence: 300_000,
};

/** Milliseconds for which an answer is read before others have their turn. */
const longestMs = 32;

/** As the provider libraries have it. */
export interface StreamingChat {
  doStream(
    call: LanguageModelV4CallOptions,
  ): PromiseLike<{ readonly stream: AsyncIterable<LanguageModelV4StreamPart> }>;
}

export interface ProviderModelOptions {
  readonly id: string;
  readonly chat: StreamingChat;
  readonly capabilities: ModelCapabilities;
  /** Tokens; 0 when unknown. */
  readonly maxContextTokens: number;
  /** Asks the server for them; 0 when it does not say. */
  readonly askContextTokens?: (signal: AbortSignal) => Promise<number>;
  readonly endpoint: Omit<FailureContext, "now">;
  readonly timing: ModelTiming;
  /** The request in the provider library's terms. The signal is the one its call will have. */
  readonly toCall: (
    request: ModelRequest,
    options: { readonly signal: AbortSignal },
  ) => Promise<LanguageModelV4CallOptions> | LanguageModelV4CallOptions;
  /** True when thinking goes back as plain text: elsewhere it counts for nothing without what the provider signed. */
  readonly plainThinking?: boolean;
  /** Told why the request with that signal was refused (`refusalOf`); true when the next one will be different. */
  readonly learn?: (refusal: string, options: { readonly signal: AbortSignal }) => boolean;
}

/**
 * A model behind a provider library. What passes by itself (a busy provider, a broken connection, also in the middle of an
 * answer) is waited for and asked again; the rest becomes a `ModelError`. Watches for silence.
 */
export class ProviderModel implements Model {
  readonly id: string;
  readonly capabilities: ModelCapabilities;
  maxContextTokens: number;
  readonly #options: ProviderModelOptions;

  constructor(options: ProviderModelOptions) {
    this.id = options.id;
    this.capabilities = options.capabilities;
    this.maxContextTokens = options.maxContextTokens;
    this.#options = options;
  }

  async findContextTokens({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.maxContextTokens === 0) this.maxContextTokens = (await this.#options.askContextTokens?.(signal)) ?? 0;
  }

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    const { timing, endpoint } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      const began: Began = { answering: false, saying: false };
      const failure = yield* this.#attempt(request, signal, began);
      if (failure === undefined) return;
      // "At once" would be ten requests without a pause.
      const delay = Math.ceil(failure.retryAfter || this.#delayAfter(attempt));
      if (!failure.transient || delay > timing.longestAsked) throw failure.error;
      const isFirstContact = failure.nobodyThere === true && !reached.has(endpoint.baseUrl);
      const most = isFirstContact
        ? timing.firstContactAttempts
        : failure.silent === true || failure.damaged === true
          ? timing.silentAttempts
          : timing.maxAttempts;
      if (attempt >= most) throw lastFailure(failure.error, attempt);
      if (began.saying) yield { type: "restart", reason: failure.error.message };
      const reason = askingAgain(failure.error, { delay, attempt: attempt + 1, most });
      yield { type: "waiting", until: Date.now() + delay, problem: asSentence(failure.error.message), reason };
      await wait(delay, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Up to a quarter less, so that those who were refused together do not come back together. */
  #delayAfter(attempt: number): number {
    const { firstDelay, longestDelay } = this.#options.timing;
    return Math.min(longestDelay, firstDelay * 2 ** (attempt - 1)) * (1 - Math.random() / 4);
  }

  /** One request, or several until the server takes one. Gives what went wrong. Rejects when the signal aborts. */
  async *#attempt(
    request: ModelRequest,
    signal: AbortSignal,
    began: Began,
  ): AsyncGenerator<ModelEvent, ProviderFailure | undefined> {
    // Ends the request also when the reader of this generator walks away.
    const ending = new AbortController();
    const watch = new SilenceWatch(this.#options.timing.silence);
    const abortSignal = AbortSignal.any([signal, ending.signal, watch.signal]);
    try {
      const { stream, without } = await this.#open(request, { signal, abortSignal }, watch);
      // A reader that takes its time is not the provider's silence.
      watch.stop();
      for (const reason of without.map(leftOut)) yield { type: "waiting", until: Date.now(), problem: reason, reason };
      watch.sign();
      for await (const event of this.#read(stream, request.enableThinking, { watch, began })) {
        began.saying = true;
        yield event;
      }
      return undefined;
    } catch (thrown) {
      signal.throwIfAborted();
      // Before its answer began a model may be loading, which asking again would begin anew.
      if (watch.signal.aborted) {
        const { answering } = began;
        return { error: this.#silent(answering), transient: answering, retryAfter: undefined, silent: true };
      }
      if (isUnreadableCall(thrown)) {
        yield { type: "finish", reason: "malformed" };
        return undefined;
      }
      const failure = providerFailure(thrown, this.#context());
      return failure.cut === true && !began.answering ? noAnswer(this.#context()) : failure;
    } finally {
      watch.stop();
      ending.abort(over);
    }
  }

  /** Sends the request; again, where the server said how it wants it, or that it does not take a part of it. */
  async #open(
    request: ModelRequest,
    { signal, abortSignal }: { readonly signal: AbortSignal; readonly abortSignal: AbortSignal },
    watch: SilenceWatch,
  ): Promise<OpenedAnswer> {
    const { toCall, learn, endpoint } = this.#options;
    const server = `${endpoint.baseUrl} ${endpoint.model}`;
    const whole = withoutRefused(server, withoutRefusedTools(server, request));
    let sent = whole;
    const left: RefusedPart[] = [];
    const without: ToolDefinition[] = [];
    for (;;) {
      watch.sign();
      try {
        const call = await toCall(sent, { signal: abortSignal });
        const { stream } = await this.#options.chat.doStream({ ...call, abortSignal });
        reached.add(endpoint.baseUrl);
        for (const part of left) rememberRefused(server, whole, part);
        return { stream, without };
      } catch (thrown) {
        signal.throwIfAborted();
        const refusal = refusalOf(thrown);
        if (refusal === undefined) throw thrown;
        if (learn?.(refusal.text, { signal: abortSignal }) === true) continue;
        const tool = refusal.isFault ? undefined : refusedTool(server, refusal.text, sent.tools);
        if (tool !== undefined) {
          without.push(tool);
          sent = { ...sent, tools: sent.tools.filter((each) => each !== tool) };
          continue;
        }
        const shorter = refusal.isFault ? undefined : withoutPart(refusal.text, sent);
        if (shorter === undefined) throw thrown;
        left.push(shorter.part);
        sent = shorter.request;
      }
    }
  }

  async *#read(
    stream: AsyncIterable<LanguageModelV4StreamPart>,
    enableThinking: boolean,
    { watch, began }: { readonly watch: SilenceWatch; readonly began: Began },
  ): AsyncGenerator<ModelEvent> {
    let thinking: ThinkingBlock[] = [];
    const open = new Map<string, ThinkingBlock>();
    let responseModel: string | undefined;
    let paused = performance.now();
    let longest = 0.5;
    // The library ends a stream that brought an error part with a finish part: the error must win.
    for await (const part of stream) {
      watch.stop();
      // A fast answer comes by megabytes at once: what came first is shown before all is read.
      if (performance.now() - paused > longest) {
        await nextTurn();
        paused = performance.now();
        longest = Math.min(2 * longest, longestMs);
      }
      if (!libraryParts.has(part.type)) began.answering = true;
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
          // Plain thinking that nobody ended is as whole as it will be.
          if (this.#options.plainThinking === true) thinking.push(...open.values());
          if (this.#options.plainThinking === true) open.clear();
          const providerState = providerStateOf(this.id, thinking, part.providerMetadata, this.#options);
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
          throw new BrokenAnswer(errorInStream(part.error, this.#context()));
        case "finish": {
          if (isCut(part.finishReason)) throw new BrokenAnswer(cutAnswer(this.#context()));
          const { inputTokens, outputTokens } = part.usage;
          // Where nobody counted, it is estimated.
          if (inputTokens.total || outputTokens.total) {
            yield {
              type: "usage",
              inputTokens: inputTokens.total ?? 0,
              outputTokens: outputTokens.total ?? 0,
              ...(inputTokens.cacheRead ? { cachedInputTokens: inputTokens.cacheRead } : {}),
              ...(inputTokens.cacheWrite ? { cacheWriteTokens: inputTokens.cacheWrite } : {}),
            };
          }
          yield {
            type: "finish",
            reason: finishReasonOf(part.finishReason),
            ...(responseModel === undefined ? {} : { responseModel }),
          };
          return;
        }
        default:
          break;
      }
      watch.sign();
    }
    throw new BrokenAnswer(cutAnswer(this.#context()));
  }

  #context(): FailureContext {
    return { ...this.#options.endpoint, now: Date.now() };
  }

  #silent(inItsMiddle: boolean): ModelError {
    const seconds = Math.round(this.#options.timing.silence / 1000);
    const where = inItsMiddle ? " in the middle of its answer" : "";
    return new ModelError("unreachable", `${this.#options.endpoint.baseUrl} was silent for ${seconds} s${where}.`, {
      hint: "The model may still be loading or be too large for the machine: try again, or use a smaller one.",
      retryable: true,
    });
  }
}

/** Base URLs that have answered this process. */
const reached = new Set<string>();

/** Nobody asks why: one for all, since making an error costs a trace of the stack. */
const over = new Error("The answer is no longer read.");

/** An answer that a server gives, and the tools that it was asked without. */
interface OpenedAnswer {
  readonly stream: AsyncIterable<LanguageModelV4StreamPart>;
  readonly without: readonly ToolDefinition[];
}

/** How far an answer came. */
interface Began {
  /** A server there speaks the format. */
  answering: boolean;
  /** It was handed on in part. */
  saying: boolean;
}

/** Parts that the libraries make also where no answer comes. */
const libraryParts: ReadonlySet<string> = new Set(["stream-start", "error", "finish"]);

/** A call without a name, which one of the libraries does not hand on. */
function isUnreadableCall(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "AI_InvalidResponseDataError";
}
