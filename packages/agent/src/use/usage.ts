/** What one answer of a model took, in tokens. */
export interface Usage {
  /** All that was sent, what came from the provider's cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache; undefined when the provider does not say. */
  readonly cachedInputTokens?: number;
  /** The part of `inputTokens` that the provider wrote into its cache, where it says so: some take more for it. */
  readonly cacheWriteTokens?: number;
}

/** An estimate, by the prices that the user wrote down or the catalogue has. */
export interface Cost {
  readonly amount: number;
  /** E.g. `USD`; may be empty where the user wrote none. */
  readonly currency: string;
}

/** Sums over the answers of a turn or a session, those of sub-agents and compactions included. */
export interface UsageSum {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly modelCalls: number;
  /** undefined when no answer had a price. */
  readonly cost?: Cost;
}

export const noUsage: UsageSum = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, modelCalls: 0 };

export function addUsage(sum: UsageSum, used: Usage & { readonly cost?: Cost }): UsageSum {
  const cost = addCost(sum.cost, used.cost);
  return {
    inputTokens: sum.inputTokens + used.inputTokens,
    outputTokens: sum.outputTokens + used.outputTokens,
    cachedInputTokens: sum.cachedInputTokens + (used.cachedInputTokens ?? 0),
    modelCalls: sum.modelCalls + 1,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** The same for what another session used on behalf of this one. */
export function addUsageSum(sum: UsageSum, used: UsageSum): UsageSum {
  return { ...addUsage(sum, used), modelCalls: sum.modelCalls + used.modelCalls };
}

function addCost(sum: Cost | undefined, added: Cost | undefined): Cost | undefined {
  if (sum === undefined || added === undefined) return sum ?? added;
  return { amount: sum.amount + added.amount, currency: added.currency };
}
