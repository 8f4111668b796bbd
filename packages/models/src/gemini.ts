import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { withoutImages } from "@gennai/agent/conversation/shown-images";
import type { Message, Model } from "@gennai/agent/model";
import { nearestEffort } from "@gennai/protocol/model/session/effort";
import { fetchFromServer } from "./answer/fetch-from-server.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./answer/provider-model.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { capabilitiesOf } from "./request/model-capabilities.ts";
import { toPrompt, toTools } from "./request/provider-prompt.ts";

/** Google's Gemini API. */
export function createGeminiModel(endpoint: ModelEndpoint, timing: Partial<ModelTiming> = {}): Model {
  const { baseUrl, model, apiKey, headers, facts } = endpoint;
  const id = `gemini/${model}`;
  const capabilities = capabilitiesOf({ ...facts, thinking: facts.thinking ?? !old.test(model) });
  return new ProviderModel({
    id,
    chat: createGoogleGenerativeAI({ baseURL: baseUrl, apiKey, headers, fetch: fetchFromServer() })(model),
    capabilities,
    maxContextTokens: facts.contextTokens,
    endpoint,
    timing: { ...defaultTiming, ...timing },
    toCall: (request) => ({
      prompt: toPrompt(id, request.system, request.messages.map(withoutGifs), { plainIds: true }),
      ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
      ...toTools(request),
      ...(request.enableThinking && capabilities.thinking
        ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }
        : {}),
      // Without one, a model thinks as much as it finds right.
      ...(request.enableThinking && capabilities.thinking && request.effort !== undefined
        ? { reasoning: nearestEffort(request.effort, facts.efforts) }
        : {}),
    }),
  });
}

/** PNG, JPEG, WebP, HEIC and HEIF are all it takes: https://ai.google.dev/gemini-api/docs/image-understanding */
function withoutGifs(message: Message): Message {
  return withoutImages(message, "gif");
}

/** No catalogue lists them any more. To ask them for their thoughts is refused. */
const old = /gemini-(?:1|2\.0)|gemma/;
