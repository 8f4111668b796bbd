/** Tokens that one answer of a model used. */
export interface Usage {
  /** All tokens sent, including those from the provider's cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` read from the provider's cache; undefined if the provider does not say. */
  readonly cachedInputTokens?: number;
  /** The part of `inputTokens` written to the provider's cache, if the provider says so: some charge more for it. */
  readonly cacheWriteTokens?: number;
}

/** An estimate, from prices that the user configured or the catalogue has. */
export interface Cost {
  readonly amount: number;
  /** E.g. `USD`; may be empty if the user gave none. */
  readonly currency: string;
}

/** Sums over the answers of a turn or a session, including sub-agents and compactions. */
export interface UsageSum {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly modelCalls: number;
  /** Undefined if no answer had a price. */
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

/** Adds what another session used on behalf of this one. */
export function addUsageSum(sum: UsageSum, used: UsageSum): UsageSum {
  return { ...addUsage(sum, used), modelCalls: sum.modelCalls + used.modelCalls };
}

function addCost(sum: Cost | undefined, added: Cost | undefined): Cost | undefined {
  if (sum === undefined || added === undefined) return sum ?? added;
  return { amount: sum.amount + added.amount, currency: added.currency };
}
