import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Model } from "@gennai/agent/model";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./provider-model.ts";
import { keepsThinking, toPrompt, toTools } from "./provider-prompt.ts";

/** Anthropic's messages API, with its prompt cache. */
export function createAnthropicModel(endpoint: ModelEndpoint, timing: Partial<ModelTiming> = {}): Model {
  const { baseUrl, model, apiKey } = endpoint;
  const id = `anthropic/${model}`;
  return new ProviderModel({
    id,
    chat: createAnthropic({ baseURL: baseUrl, apiKey })(model),
    capabilities: { toolCalling: true, thinking: true, vision: true, structuredOutput: true },
    maxContextTokens: 200_000,
    endpoint,
    timing: { ...defaultTiming, ...timing },
    toCall(request) {
      const prompt = toPrompt(id, request.system, request.messages, cached);
      cacheUpTo(prompt);
      // The API refuses to think on when the thinking behind an earlier call of the same turn is missing.
      const thinks = request.enableThinking && keepsThinking(id, request.messages);
      return {
        prompt,
        ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
        ...toTools(request),
        ...(thinks ? { reasoning: "medium" as const } : {}),
      };
    },
  });
}

const cached: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Marks the newest message: everything before it is read from the cache the next time. The system prompt is marked, too. */
function cacheUpTo(prompt: LanguageModelV4Prompt): void {
  const last = prompt.at(-1);
  if (last !== undefined && last.role !== "system") last.providerOptions = cached;
}
