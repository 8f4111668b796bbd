import { setTimeout as wait } from "node:timers/promises";
import { createOpenAICompatible, OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import { type Model, ModelError, type ModelEvent, type ModelRequest } from "@gennai/agent/model";
import { type ChatCall, type ChatModel, toChatCall } from "./chat-prompt.ts";
import { encodeMessages, withMessages } from "./encoded-messages.ts";
import type { Environment, ModelSettings } from "./model-registry.ts";
import { postParts } from "./post-parts.ts";
import { errorInStream, type FailureContext, providerFailure } from "./provider-failure.ts";

export type ChatBackend = "openai-compatible" | "openai" | "ollama";

export interface ChatModelTiming {
  /** Requests in all, the first included. */
  readonly maxAttempts: number;
  /** Milliseconds before the second request; doubles with each further one. */
  readonly firstDelay: number;
  /** Milliseconds; a provider that asks for a longer wait is not waited for. */
  readonly longestDelay: number;
  /** Milliseconds without a sign of life after which an answer counts as dead. */
  readonly silence: number;
}

const defaultTiming: ChatModelTiming = { maxAttempts: 4, firstDelay: 500, longestDelay: 30_000, silence: 300_000 };

const defaultBaseUrls: Readonly<Record<ChatBackend, string>> = {
  "openai-compatible": "",
  openai: "https://api.openai.com/v1",
  ollama: "http://127.0.0.1:11434/v1",
};

/**
 * Any server that speaks the chat-completions protocol. The key comes from `GENNAI_API_KEY` or `OPENAI_API_KEY`.
 * Throws `ModelError` (`not_configured`) when the base URL or the model's name is missing.
 */
export function createOpenAICompatibleModel(
  backend: ChatBackend,
  settings: Pick<ModelSettings, "model" | "baseUrl">,
  env: Environment,
  timing: Partial<ChatModelTiming> = {},
): Model {
  const baseUrl = checkedBaseUrl(backend, settings.baseUrl === "" ? defaultBaseUrls[backend] : settings.baseUrl);
  const apiKey = (env["GENNAI_API_KEY"] ?? env["OPENAI_API_KEY"] ?? "").trim();
  if (settings.model === "") {
    throw new ModelError("not_configured", `The backend ${backend} needs a model.`, {
      hint: "Name it with --model, e.g. `--backend ollama --model qwen3`.",
    });
  }
  if (backend === "openai" && apiKey === "") {
    throw new ModelError("not_configured", "The backend openai needs a key.", {
      hint: "Put it into the environment variable GENNAI_API_KEY or OPENAI_API_KEY.",
    });
  }
  const conversations: Conversations = new WeakMap();
  const provider = createOpenAICompatible({
    name: backend,
    baseURL: baseUrl,
    includeUsage: true,
    ...(apiKey === "" ? {} : { apiKey }),
    fetch: (url, request) => postConversation(url, request, conversations),
  });
  const chat = provider.chatModel(settings.model);
  if (!(chat instanceof OpenAICompatibleChatLanguageModel))
    throw new TypeError("The provider library made another kind of model.");
  return new OpenAICompatibleModel(
    `${backend}/${settings.model}`,
    chat,
    conversations,
    { baseUrl, model: settings.model, apiKey },
    {
      ...defaultTiming,
      ...timing,
    },
  );
}

/** The messages of each call by its signal: the one thing of a call that the library hands on as it is. */
type Conversations = WeakMap<AbortSignal, readonly Uint8Array[]>;

/** The library would convert and encode the whole conversation again for every request, which grows with its length. */
async function postConversation(
  url: Parameters<typeof fetch>[0],
  request: RequestInit | undefined,
  conversations: Conversations,
): Promise<Response> {
  const signal = request?.signal ?? undefined;
  const messages = signal && conversations.get(signal);
  if (signal === undefined || messages === undefined || typeof request?.body !== "string") return fetch(url, request);
  const parts = withMessages(request.body, messages);
  const response = await postParts(url instanceof Request ? url.url : url.toString(), parts, {
    headers: new Headers(request.headers),
    signal,
  });
  return response ?? fetch(url, { ...request, body: Buffer.concat(parts) });
}

class OpenAICompatibleModel implements Model {
  readonly id: string;
  readonly capabilities = { toolCalling: true, thinking: true, vision: true, structuredOutput: false };
  readonly maxContextTokens = 0;
  readonly #chat: ChatModel;
  readonly #conversations: Conversations;
  readonly #endpoint: Omit<FailureContext, "now">;
  readonly #timing: ChatModelTiming;

  constructor(
    id: string,
    chat: ChatModel,
    conversations: Conversations,
    endpoint: Omit<FailureContext, "now">,
    timing: ChatModelTiming,
  ) {
    this.id = id;
    this.#chat = chat;
    this.#conversations = conversations;
    this.#endpoint = endpoint;
    this.#timing = timing;
  }

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    signal.throwIfAborted();
    // Ends the request also when the reader of this generator walks away.
    const ending = new AbortController();
    const watch = new SilenceWatch(this.#timing.silence);
    const abortSignal = AbortSignal.any([signal, ending.signal, watch.signal]);
    try {
      const call = { ...toChatCall(request), abortSignal };
      this.#conversations.set(abortSignal, await encodeMessages(this.#chat, request.system, request.messages));
      const stream = await this.#open(call, signal, watch);
      yield* this.#read(stream, request.enableThinking, watch);
    } catch (thrown) {
      signal.throwIfAborted();
      if (watch.signal.aborted) throw this.#silent();
      throw providerFailure(thrown, this.#context()).error;
    } finally {
      watch.stop();
      ending.abort();
    }
  }

  /** Sends the request, again when the provider was only busy. Nothing was received yet, so nothing can come twice. */
  async #open(call: ChatCall, signal: AbortSignal, watch: SilenceWatch): Promise<ReadableStream<ChatPart>> {
    const { maxAttempts, firstDelay, longestDelay } = this.#timing;
    for (let attempt = 1; ; attempt += 1) {
      watch.sign();
      try {
        const { stream } = await this.#chat.doStream(call);
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
    stream: ReadableStream<ChatPart>,
    enableThinking: boolean,
    watch: SilenceWatch,
  ): AsyncGenerator<ModelEvent> {
    // The library ends a stream that brought an error part with a finish part: the error must win.
    for await (const part of stream) {
      // A reader that takes its time is not the provider's silence.
      watch.stop();
      switch (part.type) {
        case "reasoning-delta":
          if (enableThinking && part.delta !== "") yield { type: "thinking-delta", text: part.delta };
          break;
        case "text-delta":
          if (part.delta !== "") yield { type: "text-delta", text: part.delta };
          break;
        case "tool-input-start":
          yield { type: "tool-call-start", id: part.id, name: part.toolName };
          break;
        case "tool-input-delta":
          if (part.delta !== "") yield { type: "tool-call-delta", id: part.id, text: part.delta };
          break;
        case "tool-call":
          yield { type: "tool-call", id: part.toolCallId, name: part.toolName, argumentsJson: part.input };
          break;
        case "error":
          throw errorInStream(part.error, this.#context());
        case "finish": {
          const { inputTokens, outputTokens } = part.usage;
          if (inputTokens.total !== undefined || outputTokens.total !== undefined) {
            yield { type: "usage", inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0 };
          }
          yield { type: "finish", reason: finishReasons[part.finishReason.unified] ?? "other" };
          return;
        }
        default:
          break;
      }
      watch.sign();
    }
    throw new ModelError("bad_response", `${this.#endpoint.baseUrl} ended its answer without a finish.`, {
      retryable: true,
    });
  }

  #context(): FailureContext {
    return { ...this.#endpoint, now: Date.now() };
  }

  #silent(): ModelError {
    const seconds = Math.round(this.#timing.silence / 1000);
    return new ModelError("unreachable", `${this.#endpoint.baseUrl} was silent for ${seconds} s.`, {
      hint: "The model may still be loading or be too large for the machine: try again, or use a smaller one.",
      retryable: true,
    });
  }
}

type ChatPart = Awaited<ReturnType<ChatModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
type FinishReason = Extract<ModelEvent, { type: "finish" }>["reason"];

const finishReasons: Readonly<Partial<Record<string, FinishReason>>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls",
};

/** Aborts when nothing was heard for too long. */
class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #limit: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something was heard. */
  sign(): void {
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#controller.abort(), this.#limit);
    else this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function checkedBaseUrl(backend: ChatBackend, written: string): string {
  const hint = "Set --base-url, e.g. `--base-url http://127.0.0.1:8000/v1`.";
  if (written === "") throw new ModelError("not_configured", `The backend ${backend} needs a base URL.`, { hint });
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ModelError("not_configured", "The base URL is no http or https URL.", { hint });
  }
  if (url.username !== "" || url.password !== "") {
    throw new ModelError("not_configured", "The base URL holds credentials, which would end up in logs.", {
      hint: "Take them out of the URL and put the key into GENNAI_API_KEY.",
    });
  }
  return written.replace(/\/+$/, "");
}
