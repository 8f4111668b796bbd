import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Model, ModelRequest } from "@gennai/agent/model";
import { type Effort, nearestEffort } from "@gennai/protocol/model/session/effort";
import { fetchFromServer } from "./answer/fetch-from-server.ts";
import { anthropicEvents } from "./answer/needed-events.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./answer/provider-model.ts";
import type { CataloguedModel } from "./catalogue.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { capabilitiesOf } from "./request/model-capabilities.ts";
import { lostThinking, toPrompt, toTools } from "./request/provider-prompt.ts";

/** Anthropic's messages API, with its prompt cache. */
export function createAnthropicModel(endpoint: ModelEndpoint, timing: Partial<ModelTiming> = {}): Model {
  const { baseUrl, model, apiKey, headers, facts } = endpoint;
  const id = `anthropic/${model}`;
  return new ProviderModel({
    id,
    chat: createAnthropic({ baseURL: baseUrl, apiKey, headers, fetch: fetchFromServer(anthropicEvents) })(model),
    // With another effort the API reads the conversation anew, as Claude Code warns: https://code.claude.com/docs/en/prompt-caching
    capabilities: { ...capabilitiesOf(facts), effortInCache: true },
    maxContextTokens: facts.contextTokens,
    endpoint,
    timing: { ...defaultTiming, ...timing },
    toCall(request) {
      const prompt = toPrompt(id, request.system, request.messages, { systemOptions: keptLong, plainIds: true });
      markForCache(prompt);
      return { prompt, ...toTools(request), ...answerOf(id, endpoint, request) };
    },
    learn: (refusal) => learnBinding(endpoint, refusal),
  });
}

/** Models that think by a budget of tokens, and of these the ones that think between calls when asked to. */
const thinksByBudget = /claude-3|claude-(?:opus|sonnet|haiku)-4(?:-[015])?(?=$|[-@:](?:\d{8}|latest|v\d))/;
const canInterleave = /claude-(?:opus|sonnet|haiku)-4/;

/** What part of an answer such thinking may take. */
const budgets: Readonly<Record<Effort, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.4,
  high: 0.6,
  xhigh: 0.8,
  max: 0.9,
};

/** Models that take their thinking back whatever has changed before it; all later ones do not. */
const bindsNothing = /claude-(?:2|3|v2|instant|mythos-preview|[a-z]+-(?:4(?!\d)|5(?![-.]\d(?!\d))))/;

/** What servers said of it otherwise, by base URL and model. For this process: each costs one refused request. */
const learnedBinding = new Map<string, boolean>();

/**
 * Newer models bind each block of thinking to the system prompt, tools and messages before it, and the API refuses a request in
 * which these have changed, as they do with a compaction, another mode, a server of tools that came or an editor that left. It is
 * told to leave out such a block: https://platform.claude.com/docs/en/build-with-claude/preserved-thinking and, in the docs of
 * `@ai-sdk/anthropic`, "Thinking Binding Controls".
 */
function bindingOf({ baseUrl, model }: ModelEndpoint) {
  const binds = learnedBinding.get(`${baseUrl} ${model}`) ?? (model.includes("claude") && !bindsNothing.test(model));
  return binds ? { blockBinding: { prefixMismatchBehavior: "drop_block" } } : {};
}

/** A gateway may not know the words, or give such a model another name. */
function learnBinding(endpoint: ModelEndpoint, refusal: string): boolean {
  const server = `${endpoint.baseUrl} ${endpoint.model}`;
  if (!/block_binding|thinking-binding-controls/.test(refusal) || learnedBinding.has(server)) return false;
  learnedBinding.set(server, /drop_block/.test(refusal));
  return true;
}

/**
 * How long an answer may be, and how the model thinks. The same for all requests of a turn, since a loop of calls is one turn to
 * the API: whether single answers thought or not plays no part. Only where thinking goes by a budget, the API refuses a turn that
 * does not begin with thinking.
 */
function answerOf(
  id: string,
  endpoint: ModelEndpoint,
  { enableThinking, effort, messages, maxOutputTokens: asked }: ModelRequest,
): Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions" | "maxOutputTokens"> {
  const { model, facts } = endpoint;
  const byBudget = thinksByBudget.test(model) || !model.includes("claude");
  const most = asked || outputBeside(facts);
  const limit = most > 0 ? { maxOutputTokens: most } : {};
  if (!byBudget) {
    const binding = bindingOf(endpoint);
    const thinking = enableThinking ? { type: "adaptive", display: "summarized", ...binding } : binding;
    return {
      ...limit,
      // Without one, a model thinks as hard as its maker finds right.
      ...(enableThinking && effort !== undefined ? { reasoning: nearestEffort(effort, facts.efforts) } : {}),
      ...(Object.keys(thinking).length > 0 ? { providerOptions: { anthropic: { thinking } } } : {}),
    };
  }
  if (!enableThinking || lostThinking(id, messages)) return limit;
  const wanted = nearestEffort(effort ?? "medium", facts.efforts);
  const anthropicBeta = canInterleave.test(model) ? ["interleaved-thinking-2025-05-14"] : [];
  if (most === 0) return { reasoning: wanted, providerOptions: { anthropic: { anthropicBeta } } };
  const budgetTokens = Math.max(leastBudget, Math.floor(most * budgets[wanted]));
  return {
    // The library adds the budget, as the API counts it.
    maxOutputTokens: Math.max(1, most - budgetTokens),
    providerOptions: { anthropic: { anthropicBeta, thinking: { type: "enabled", budgetTokens } } },
  };
}

/** The API takes no smaller budget. */
const leastBudget = 1_024;

/**
 * Tokens an answer may have where nobody says: the API takes them as used beforehand, so never more than what is free when a
 * conversation is compacted. 0: as the library has it.
 */
function outputBeside({ contextTokens, outputTokens }: CataloguedModel): number {
  return contextTokens === 0 ? outputTokens : Math.min(outputTokens, Math.floor(contextTokens / 5));
}

/** Tools and system text outlast a user who thinks about a question; what is said moves on before five minutes are over. */
const keptLong: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } };
const keptShort: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * Marks the newest message, to be read from the cache the next time, and the one that was marked in the request before: the
 * API looks only twenty blocks back from a mark, and one answer may make more calls than that. The system prompt has its own.
 */
function markForCache(prompt: LanguageModelV4Prompt): void {
  const lastAnswer = prompt.findLastIndex(({ role }) => role === "assistant");
  for (const message of [prompt[lastAnswer - 1], prompt.at(-1)]) {
    if (message !== undefined && message.role !== "system") message.providerOptions = keptShort;
  }
}
