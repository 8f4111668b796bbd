import { createOpenAICompatible, OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { Model } from "@gennai/agent/model";
import type { Provider } from "@gennai/protocol/model/backend";
import { nearestEffort } from "@gennai/protocol/model/effort";
import { fetchFromServer, ownAnswer } from "./answer/fetch-from-server.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./answer/provider-model.ts";
import { capabilitiesOf } from "./facts/model-capabilities.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { type ChatDialect, chatDialect, learnDialect } from "./request/chat-dialect.ts";
import { encodeMessages, withMessages } from "./request/encoded-messages.ts";
import { postParts } from "./request/post-parts.ts";
import { toTools } from "./request/provider-prompt.ts";
import { serverWindow } from "./server-window.ts";

/** Any server that speaks the chat-completions protocol. */
export function createOpenAICompatibleModel(
  backend: Provider,
  endpoint: ModelEndpoint,
  timing: Partial<ModelTiming> = {},
): Model {
  const { baseUrl, model, apiKey, headers, facts } = endpoint;
  const id = `${backend}/${model}`;
  const server = `${baseUrl} ${model}`;
  const sent: SentRequests = new WeakMap();
  const provider = createOpenAICompatible({
    name: backend,
    baseURL: baseUrl,
    includeUsage: true,
    headers,
    ...(apiKey === "" ? {} : { apiKey }),
    fetch: (url, request) => postConversation(url, request, sent),
  });
  const chat = provider.chatModel(model);
  if (!(chat instanceof OpenAICompatibleChatLanguageModel))
    throw new TypeError("The provider library made another kind of model.");
  return new ProviderModel({
    id,
    chat,
    capabilities: { ...capabilitiesOf(facts), structuredOutput: false },
    maxContextTokens: facts.contextTokens,
    askContextTokens: () => serverWindow(backend, endpoint),
    endpoint,
    timing: { ...defaultTiming, ...timing },
    async toCall(request, { signal }) {
      const dialect = chatDialect(server);
      const reader = { chat, model: id, dialect };
      sent.set(signal, { dialect, messages: await encodeMessages(reader, request.system, request.messages) });
      return {
        prompt: [],
        ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
        ...toTools(request),
        ...(request.enableThinking && dialect.effort
          ? { reasoning: nearestEffort(request.effort ?? "medium", facts.efforts) }
          : {}),
      };
    },
    plainThinking: true,
    learn(refusal, { signal }) {
      const dialect = sent.get(signal)?.dialect;
      return dialect !== undefined && learnDialect(server, dialect, refusal);
    },
  });
}

/** What each call is made of, by its signal: the one thing of a call that the library hands on as it is. */
type SentRequests = WeakMap<AbortSignal, { readonly dialect: ChatDialect; readonly messages: readonly Uint8Array[] }>;

/** The library would convert and encode the whole conversation again for every request, which grows with its length. */
async function postConversation(
  url: Parameters<typeof fetch>[0],
  request: RequestInit | undefined,
  sent: SentRequests,
): Promise<Response> {
  const signal = request?.signal ?? undefined;
  const messages = signal && sent.get(signal)?.messages;
  if (signal === undefined || messages === undefined || typeof request?.body !== "string")
    return fetchFromServer(url, request);
  const parts = withMessages(request.body, messages);
  const place = url instanceof Request ? url.url : url.toString();
  return ownAnswer(await postParts(place, parts, { headers: plainHeaders(request.headers), signal }), place);
}

/** Not by `Headers`: with that class Node would load all of `fetch`, before the first request of a process. */
function plainHeaders(headers: RequestInit["headers"] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (Symbol.iterator in headers ? [...headers] : Object.entries(headers)).map(([name, value]) => [name, String(value)]),
  );
}
