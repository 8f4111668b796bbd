import type { TokenUsage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** What a turn took of its model, sub-agents and compactions included. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache, as far as it says so. */
  readonly cachedInputTokens: number;
  readonly modelCalls: number;
  /** By the user's prices; absent without them. */
  readonly cost?: number;
  readonly currency?: string;
}

export const nothingUsed: TurnUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, modelCalls: 0 };

export function addUsage(sum: TurnUsage, usage: TokenUsage): TurnUsage {
  const { cost } = usage;
  return {
    ...sum,
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cachedInputTokens: sum.cachedInputTokens + (usage.cachedInputTokens ?? 0),
    modelCalls: sum.modelCalls + 1,
    ...(cost === undefined ? {} : { cost: (sum.cost ?? 0) + cost, currency: usage.currency }),
  };
}

/** In one line; empty when the model told nothing. */
export function describeUsage({ inputTokens, outputTokens, cachedInputTokens, cost, currency }: TurnUsage): string {
  if (inputTokens === 0 && outputTokens === 0) return "";
  const cached = cachedInputTokens === 0 ? "" : ` (${cachedInputTokens} cached)`;
  const price = cost === undefined ? "" : ` · ${cost.toFixed(4)} ${currency ?? ""}`.trimEnd();
  return `${inputTokens} tokens in${cached}, ${outputTokens} out${price}`;
}
