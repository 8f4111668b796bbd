import type { Model } from "@gennai/agent/model";
import type { Backend, Provider } from "@gennai/protocol/model/session/backend";
import type { ModelEndpoint } from "./model-endpoint.ts";

interface ProviderFacts {
  /** Empty: the user has to name one. */
  readonly baseUrl: string;
  readonly needsKey: boolean;
  /** Environment variables that may hold the key, the first one found counts; `generalKeyVariable` before all. */
  readonly keyVariables: readonly string[];
  readonly exampleModel: string;
  /** By the semantic conventions for generative AI. */
  readonly telemetryName: string;
  /** Its code is loaded only now. Makes no request. */
  load(endpoint: ModelEndpoint): Promise<Model>;
}

/** The environment variable of a key that names no provider. */
export const generalKeyVariable = "GENNAI_API_KEY";

/** What reaches each provider, one row each. */
export const providers: Readonly<Record<Provider, ProviderFacts>> = {
  "openai-compatible": {
    baseUrl: "",
    needsKey: false,
    keyVariables: ["OPENAI_API_KEY"],
    exampleModel: "qwen3",
    telemetryName: "openai_compatible",
    load: async (endpoint) =>
      (await import("./openai-compatible.ts")).createOpenAICompatibleModel("openai-compatible", endpoint),
  },
  openai: {
    baseUrl: "https://api.openai.com/v1",
    needsKey: true,
    keyVariables: ["OPENAI_API_KEY"],
    exampleModel: "gpt-5",
    telemetryName: "openai",
    load: async (endpoint) => (await import("./openai.ts")).createOpenAIModel(endpoint),
  },
  ollama: {
    baseUrl: "http://127.0.0.1:11434/v1",
    needsKey: false,
    keyVariables: ["OLLAMA_API_KEY"],
    exampleModel: "qwen3",
    telemetryName: "ollama",
    load: async (endpoint) => (await import("./openai-compatible.ts")).createOpenAICompatibleModel("ollama", endpoint),
  },
  anthropic: {
    baseUrl: "https://api.anthropic.com/v1",
    needsKey: true,
    keyVariables: ["ANTHROPIC_API_KEY"],
    exampleModel: "claude-sonnet-5",
    telemetryName: "anthropic",
    load: async (endpoint) => (await import("./anthropic.ts")).createAnthropicModel(endpoint),
  },
  gemini: {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    needsKey: true,
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    exampleModel: "gemini-pro-latest",
    telemetryName: "gcp.gemini",
    load: async (endpoint) => (await import("./gemini.ts")).createGeminiModel(endpoint),
  },
};

export function isProvider(backend: Backend): backend is Provider {
  return Object.hasOwn(providers, backend);
}
