import type { Cost, Usage } from "../usage.ts";

/** Prices per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** Tokens that the provider reads from its cache, and writes to it. */
  readonly cachedInput: number;
  readonly cacheWrite: number;
}

export interface Prices extends Rates {
  readonly currency: string;
  /** Other rates for the whole request if its input exceeds `above` tokens; in ascending order. */
  readonly tiers?: readonly (Rates & { readonly above: number })[];
}

/** The rates of a request with so many tokens of input. */
export function ratesAt(inputTokens: number, prices: Prices): Rates {
  return prices.tiers?.findLast(({ above }) => inputTokens > above) ?? prices;
}

/** The cost of an answer, as far as its usage is known: an estimate, because only the provider's bill is exact. */
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
