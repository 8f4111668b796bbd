import { createHash } from "node:crypto";
import { createOpenAI } from "@ai-sdk/openai";
import type { Model } from "@gennai/agent/model";
import { nearestEffort } from "@gennai/protocol/model/session/effort";
import { fetchFromServer } from "./answer/fetch-from-server.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./answer/provider-model.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { capabilitiesOf } from "./request/model-capabilities.ts";
import { toPrompt, toTools } from "./request/provider-prompt.ts";

/**
 * OpenAI's responses API. Nothing is stored there: reasoning comes back encrypted and is sent along. The library asks for
 * that, and for an effort and summaries, only with models that reason: others refuse such a request.
 */
export function createOpenAIModel(endpoint: ModelEndpoint, timing: Partial<ModelTiming> = {}): Model {
  const { baseUrl, model, apiKey, headers, facts } = endpoint;
  const id = `openai/${model}`;
  const server = `${baseUrl} ${model}`;
  return new ProviderModel({
    id,
    chat: createOpenAI({ baseURL: baseUrl, apiKey, headers, fetch: fetchFromServer() }).responses(model),
    capabilities: capabilitiesOf(facts),
    maxContextTokens: facts.contextTokens,
    endpoint,
    timing: { ...defaultTiming, ...timing },
    toCall: (request) => ({
      prompt: toPrompt(id, request.system, request.messages, { errorsAs: "text", plainIds: true }),
      ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
      ...toTools(request),
      ...(request.enableThinking && request.effort !== undefined
        ? { reasoning: nearestEffort(request.effort, facts.efforts) }
        : {}),
      providerOptions: {
        openai: {
          store: false,
          // Governed tools take optional arguments, which strict schemas do not know.
          strictJsonSchema: false,
          ...(request.cacheKey === undefined ? {} : { promptCacheKey: shortKey(request.cacheKey) }),
          // The library has a value of its own where there is none.
          ...(request.enableThinking ? { reasoningSummary: withoutSummaries.has(server) ? null : "auto" } : {}),
        },
      },
    }),
    learn(refusal) {
      if (!/reasoning.{0,2}summar/i.test(refusal) || withoutSummaries.has(server)) return false;
      withoutSummaries.add(server);
      return true;
    },
  });
}

/**
 * Base URLs and models that give no summaries, as OpenAI itself to organizations that are not verified:
 * https://help.openai.com/en/articles/10910291-api-organization-verification. For this process: each costs one refused request.
 */
const withoutSummaries = new Set<string>();

/** OpenAI takes at most 64 characters. */
function shortKey(cacheKey: string): string {
  return createHash("sha256").update(cacheKey).digest("hex").slice(0, 32);
}
