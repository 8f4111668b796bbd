import { contextWords, costWords } from "@gennai/client/session/usage-meter";
import type { TokenUsage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** What a turn used of models, with its sub-agents and compactions. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache, as far as it says so. */
  readonly cachedInputTokens: number;
  readonly modelCalls: number;
  /** Tokens of the turn's newest own call, and how many the model takes; 0: unknown. */
  readonly contextTokens: number;
  readonly maxContextTokens: number;
  /** An estimate; absent where no price is known. */
  readonly cost?: number;
  readonly currency?: string;
  /** Calls of unknown price, if other calls have one: the turn costs more than `cost`. */
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

/** Adds one call's usage. @param parentCallId call whose sub-agent used it; empty for the turn itself */
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
