import { createOpenAI } from "@ai-sdk/openai";
import type { Model } from "@gennai/agent/model";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./provider-model.ts";
import { toPrompt, toTools } from "./provider-prompt.ts";

/** OpenAI's responses API. Nothing is stored there: reasoning comes back encrypted and is sent along. */
export function createOpenAIModel(endpoint: ModelEndpoint, timing: Partial<ModelTiming> = {}): Model {
  const { baseUrl, model, apiKey } = endpoint;
  const id = `openai/${model}`;
  return new ProviderModel({
    id,
    chat: createOpenAI({ baseURL: baseUrl, apiKey }).responses(model),
    capabilities: { toolCalling: true, thinking: true, vision: true, structuredOutput: true },
    maxContextTokens: 0,
    endpoint,
    timing: { ...defaultTiming, ...timing },
    toCall: (request) => ({
      prompt: toPrompt(id, request.system, request.messages),
      ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
      ...toTools(request),
      ...(request.enableThinking ? { reasoning: "medium" as const } : {}),
      providerOptions: {
        openai: {
          store: false,
          include: ["reasoning.encrypted_content"],
          // Governed tools take optional arguments, which strict schemas do not know.
          strictJsonSchema: false,
          ...(request.enableThinking ? { reasoningSummary: "auto" } : {}),
        },
      },
    }),
  });
}
