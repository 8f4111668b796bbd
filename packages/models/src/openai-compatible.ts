import { createOpenAICompatible, OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { Model } from "@gennai/agent/model";
import { encodeMessages, withMessages } from "./encoded-messages.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { postParts } from "./post-parts.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./provider-model.ts";
import { toTools } from "./provider-prompt.ts";

/** Any server that speaks the chat-completions protocol. */
export function createOpenAICompatibleModel(
  backend: "openai-compatible" | "ollama",
  endpoint: ModelEndpoint,
  timing: Partial<ModelTiming> = {},
): Model {
  const { baseUrl, model, apiKey } = endpoint;
  const conversations: Conversations = new WeakMap();
  const provider = createOpenAICompatible({
    name: backend,
    baseURL: baseUrl,
    includeUsage: true,
    ...(apiKey === "" ? {} : { apiKey }),
    fetch: (url, request) => postConversation(url, request, conversations),
  });
  const chat = provider.chatModel(model);
  if (!(chat instanceof OpenAICompatibleChatLanguageModel))
    throw new TypeError("The provider library made another kind of model.");
  return new ProviderModel({
    id: `${backend}/${model}`,
    chat,
    capabilities: { toolCalling: true, thinking: true, vision: true, structuredOutput: false },
    maxContextTokens: 0,
    endpoint,
    timing: { ...defaultTiming, ...timing },
    async toCall(request, { signal }) {
      conversations.set(signal, await encodeMessages(chat, request.system, request.messages));
      return {
        prompt: [],
        ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
        ...toTools(request),
      };
    },
  });
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
