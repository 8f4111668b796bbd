import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";

export type AttemptLimits = Pick<SettingsChoice, "maxSessionTokens" | "maxTurnTokens" | "maxCost">;

/** What an attempt has used. */
export interface AttemptUse {
  readonly tokens: number;
  readonly cost: number;
}

/**
 * A session's budgets, shared by all attempts. When an attempt begins, it gets an even share of what is left as its own limit;
 * what it does not use goes to later attempts. So the total never exceeds the session's limits.
 */
export class AttemptBudget {
  readonly #limits: AttemptLimits;
  #tokens: number;
  #cost: number;
  #toBegin: number;

  /** @param limits 0 or absent: no limit. An attempt is one turn, so the lower of the two token limits applies. */
  constructor(limits: AttemptLimits, attempts: number) {
    this.#limits = limits;
    const tokens = [limits.maxSessionTokens, limits.maxTurnTokens].filter((limit) => limit !== undefined && limit > 0);
    this.#tokens = Math.min(...tokens.map(Number));
    this.#cost = limits.maxCost !== undefined && limits.maxCost > 0 ? limits.maxCost : Number.POSITIVE_INFINITY;
    this.#toBegin = attempts;
  }

  /** Limits for the next attempt, and a callback to report its use; undefined if nothing is left. */
  begin(): { readonly limits: AttemptLimits; ended(use: AttemptUse): void } | undefined {
    const share = { tokens: Math.floor(this.#tokens / this.#toBegin), cost: this.#cost / this.#toBegin };
    this.#toBegin -= 1;
    if (share.tokens < 1 || share.cost <= 0) return undefined;
    this.#tokens -= finite(share.tokens);
    this.#cost -= finite(share.cost);
    const limits: AttemptLimits = {
      ...this.#limits,
      ...(Number.isFinite(share.tokens) ? { maxSessionTokens: share.tokens, maxTurnTokens: share.tokens } : {}),
      ...(Number.isFinite(share.cost) ? { maxCost: share.cost } : {}),
    };
    return {
      limits,
      ended: ({ tokens, cost }) => {
        // No use reported means that nothing was counted.
        if (tokens > 0) this.#tokens += Math.max(0, finite(share.tokens) - tokens);
        if (cost > 0) this.#cost += Math.max(0, finite(share.cost) - cost);
      },
    };
  }
}

/** For an unlimited budget, nothing is reserved or returned. */
function finite(share: number): number {
  return Number.isFinite(share) ? share : 0;
}
