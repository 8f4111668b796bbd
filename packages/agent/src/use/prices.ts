import type { Cost, Usage } from "./usage.ts";

/** What a million tokens cost. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** What the provider reads from its cache, and what it writes there. */
  readonly cachedInput: number;
  readonly cacheWrite: number;
}

export interface Prices extends Rates {
  readonly currency: string;
  /** Other rates for a whole request whose input is above so many tokens; rising. */
  readonly tiers?: readonly (Rates & { readonly above: number })[];
}

/** The rates of a request with so many tokens of input. */
export function ratesAt(inputTokens: number, prices: Prices): Rates {
  return prices.tiers?.findLast(({ above }) => inputTokens > above) ?? prices;
}

/** What an answer costs, as far as its usage says: an estimate, since only the provider's bill counts. */
export function costOf(usage: Usage, prices: Prices): Cost {
  const { inputTokens, outputTokens } = usage;
  const rates = ratesAt(inputTokens, prices);
  const cached = Math.min(usage.cachedInputTokens ?? 0, inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cached);
  const amount =
    ((inputTokens - cached - written) * rates.input +
      cached * rates.cachedInput +
      written * rates.cacheWrite +
      outputTokens * rates.output) /
    1e6;
  return { amount, currency: prices.currency };
}
