import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { Model } from "@gennai/agent/model";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./provider-model.ts";
import { toPrompt, toTools } from "./provider-prompt.ts";

/** Google's Gemini API. */
export function createGeminiModel(endpoint: ModelEndpoint, timing: Partial<ModelTiming> = {}): Model {
  const { baseUrl, model, apiKey } = endpoint;
  const id = `gemini/${model}`;
  return new ProviderModel({
    id,
    chat: createGoogleGenerativeAI({ baseURL: baseUrl, apiKey })(model),
    capabilities: { toolCalling: true, thinking: true, vision: true, structuredOutput: true },
    maxContextTokens: 1_048_576,
    endpoint,
    timing: { ...defaultTiming, ...timing },
    toCall: (request) => ({
      prompt: toPrompt(id, request.system, request.messages),
      ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
      ...toTools(request),
      ...(request.enableThinking ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } } : {}),
    }),
  });
}
