import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";

type Limits = Pick<SettingsChoice, "maxSessionTokens" | "maxTurnTokens" | "maxCost">;

/** What an attempt has used. */
export interface AttemptUse {
  readonly tokens: number;
  readonly cost: number;
}

/**
 * The budgets of a session, held over all attempts together. Each attempt gets an even share of what is left when it begins, as
 * its own limit; what it did not use is for those that begin later. So the sum never exceeds what was allowed.
 */
export class AttemptBudget {
  readonly #limits: Limits;
  #tokens: number;
  #cost: number;
  #toBegin: number;

  /** @param limits 0 or absent: no limit. An attempt is one turn, so of two limits of tokens the lower one holds. */
  constructor(limits: Limits, attempts: number) {
    this.#limits = limits;
    const tokens = [limits.maxSessionTokens, limits.maxTurnTokens].filter((limit) => limit !== undefined && limit > 0);
    this.#tokens = Math.min(...tokens.map(Number));
    this.#cost = limits.maxCost !== undefined && limits.maxCost > 0 ? limits.maxCost : Number.POSITIVE_INFINITY;
    this.#toBegin = attempts;
  }

  /** Limits for the next attempt, and how to say what it used of them; undefined: nothing is left for it. */
  begin(): { readonly limits: Limits; ended(use: AttemptUse): void } | undefined {
    const share = { tokens: Math.floor(this.#tokens / this.#toBegin), cost: this.#cost / this.#toBegin };
    this.#toBegin -= 1;
    if (share.tokens < 1 || share.cost <= 0) return undefined;
    this.#tokens -= finite(share.tokens);
    this.#cost -= finite(share.cost);
    const limits: Limits = {
      ...this.#limits,
      ...(Number.isFinite(share.tokens) ? { maxSessionTokens: share.tokens, maxTurnTokens: share.tokens } : {}),
      ...(Number.isFinite(share.cost) ? { maxCost: share.cost } : {}),
    };
    return {
      limits,
      ended: ({ tokens, cost }) => {
        // Nothing used means that nobody counted.
        if (tokens > 0) this.#tokens += Math.max(0, finite(share.tokens) - tokens);
        if (cost > 0) this.#cost += Math.max(0, finite(share.cost) - cost);
      },
    };
  }
}

/** Of what has no limit, nothing is taken and nothing given back. */
function finite(share: number): number {
  return Number.isFinite(share) ? share : 0;
}
