import { contextWords, costWords } from "@gennai/client/session/models/usage-meter";
import type { TokenUsage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** What a turn took of its model, sub-agents and compactions included. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache, as far as it says so. */
  readonly cachedInputTokens: number;
  readonly modelCalls: number;
  /** What the newest call of the turn itself held, and what the model takes; 0: unknown. */
  readonly contextTokens: number;
  readonly maxContextTokens: number;
  /** An estimate; absent where no price is known. */
  readonly cost?: number;
  readonly currency?: string;
  /** Calls without a price, where others have one: it costs more than `cost`. */
  readonly unpricedCalls: number;
}

export const nothingUsed: TurnUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  modelCalls: 0,
  contextTokens: 0,
  maxContextTokens: 0,
  unpricedCalls: 0,
};

/** @param parentCallId of the call whose sub-agent used it; empty for the turn itself */
export function addUsage(sum: TurnUsage, usage: TokenUsage, parentCallId: string): TurnUsage {
  const { cost } = usage;
  return {
    ...sum,
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cachedInputTokens: sum.cachedInputTokens + (usage.cachedInputTokens ?? 0),
    modelCalls: sum.modelCalls + 1,
    ...(parentCallId === "" && !usage.forCompaction
      ? { contextTokens: usage.inputTokens + usage.outputTokens, maxContextTokens: usage.maxContextTokens }
      : {}),
    unpricedCalls: sum.unpricedCalls + (cost === undefined ? 1 : 0),
    ...(cost === undefined ? {} : { cost: (sum.cost ?? 0) + cost, currency: usage.currency }),
  };
}

/** The usage in one line; empty if the model did not report it. */
export function describeUsage(usage: TurnUsage): string {
  const { inputTokens, outputTokens, cachedInputTokens, cost, currency = "", unpricedCalls } = usage;
  if (inputTokens === 0 && outputTokens === 0) return "";
  const cached = cachedInputTokens === 0 ? "" : ` (${cachedInputTokens} cached)`;
  const price = costWords({ cost, currency, partlyUnpriced: unpricedCalls > 0 });
  const context = contextWords(usage);
  return [`${inputTokens} tokens in${cached}, ${outputTokens} out`, price, context === "" ? "" : `${context} full`]
    .filter((words) => words !== "")
    .join(" · ");
}
