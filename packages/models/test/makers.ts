import { createAnthropicModel } from "#anthropic";
import { createGeminiModel } from "#gemini";
import type { ModelEndpoint } from "#model-endpoint";
import { createOpenAIModel } from "#openai";
import { createOpenAICompatibleModel } from "#openai-compatible";

/** How each provider's model is made; without long waits, but for `silence`. */
export const quickMakers = (silence: number) => {
  const quick = { firstDelay: 1, longestDelay: 5, silence };
  return {
    "openai-compatible": (endpoint: ModelEndpoint) => createOpenAICompatibleModel("openai-compatible", endpoint, quick),
    ollama: (endpoint: ModelEndpoint) => createOpenAICompatibleModel("ollama", endpoint, quick),
    openai: (endpoint: ModelEndpoint) => createOpenAIModel(endpoint, quick),
    anthropic: (endpoint: ModelEndpoint) => createAnthropicModel(endpoint, quick),
    gemini: (endpoint: ModelEndpoint) => createGeminiModel(endpoint, quick),
  } as const;
};
