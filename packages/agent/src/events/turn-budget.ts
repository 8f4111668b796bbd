import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { Cost, Usage, UsageSum } from "../usage.ts";
import { costOf, type Prices, ratesAt } from "./prices.ts";

/** The limits in a session's settings. */
type Limits = Pick<SessionSettings, "maxSessionTokens" | "maxTurnTokens" | "maxCost">;

/** Assumed tokens of an answer if no limit is set. The provider is sent a limit only if less than this is left. */
const usualOutput = 8_192;

/** Permission for one model call: nothing may be sent without it. */
export type Reservation =
  | {
      readonly type: "reserved";
      /** Maximum tokens of the answer; 0: as the caller wanted. */
      readonly maxOutputTokens: number;
      /** Records what an answer used; returns its cost. */
      used(usage: Usage): Cost | undefined;
      /** Call it when the model call is over, however it ended. */
      release(): void;
    }
  | { readonly type: "exceeded"; readonly message: string; readonly hint: string };

/** What a turn may still use. Sub-agents and compactions share this object. */
export class TurnBudget {
  readonly #limits: Limits;
  readonly #prices: Prices | undefined;
  /** Use of the session, before and in this turn. */
  #session: { tokens: number; cost: number };
  #turnTokens = 0;
  /** Reserved by model calls under way. */
  #reserved = { tokens: 0, cost: 0 };

  /** @param options.before what the session had used before this turn */
  constructor(options: {
    readonly limits: Limits;
    readonly prices: Prices | undefined;
    readonly before: UsageSum;
  }) {
    const { limits, prices, before } = options;
    this.#limits = limits;
    this.#prices = prices;
    this.#session = { tokens: before.inputTokens + before.outputTokens, cost: before.cost?.amount ?? 0 };
  }

  /** True if any limit is set: if the provider reports no use, it must then be estimated. */
  get isLimited(): boolean {
    const { maxSessionTokens, maxTurnTokens, maxCost } = this.#limits;
    return maxSessionTokens > 0 || maxTurnTokens > 0 || maxCost > 0;
  }

  /**
   * @param inputTokens estimated size of the request
   * @param wantedOutput maximum tokens of the answer; 0: the provider's default
   */
  reserve(inputTokens: number, wantedOutput: number): Reservation {
    const { maxSessionTokens, maxTurnTokens, maxCost } = this.#limits;
    const prices = this.#prices;
    const price = prices === undefined ? undefined : ratesAt(inputTokens, prices);
    const inputCost = price === undefined ? 0 : (inputTokens * price.input) / 1e6;
    const left: { readonly output: number; readonly limit: string; readonly used: string; readonly setting: string }[] =
      [];
    if (maxSessionTokens > 0) {
      const used = this.#session.tokens + this.#reserved.tokens;
      left.push({
        output: maxSessionTokens - used - inputTokens,
        limit: `the session's budget of ${maxSessionTokens} tokens`,
        used: `${used} tokens are used, the next model call needs about ${inputTokens}`,
        setting: "max_session_tokens",
      });
    }
    if (maxTurnTokens > 0) {
      const used = this.#turnTokens + this.#reserved.tokens;
      left.push({
        output: maxTurnTokens - used - inputTokens,
        limit: `the turn's budget of ${maxTurnTokens} tokens`,
        used: `${used} tokens are used, the next model call needs about ${inputTokens}`,
        setting: "max_turn_tokens",
      });
    }
    if (maxCost > 0 && price !== undefined) {
      const used = this.#session.cost + this.#reserved.cost;
      const rest = maxCost - used - inputCost;
      left.push({
        output: price.output > 0 ? Math.floor((rest * 1e6) / price.output) : rest > 0 ? Number.MAX_SAFE_INTEGER : 0,
        limit: `the session's budget of ${maxCost} ${prices?.currency ?? ""}`.trimEnd(),
        used: `${money(used)} is used, the next model call costs about ${money(inputCost)} before it answers`,
        setting: "max_cost",
      });
    }
    const spent = left.find(({ output }) => output < 1);
    if (spent !== undefined) {
      return {
        type: "exceeded",
        message: `The next model call would exceed ${spent.limit}: ${spent.used}. Nothing was sent.`,
        hint: `Raise ${spent.setting} in the session's settings, compact or clear the session, or start another one.`,
      };
    }
    if (left.length === 0) return this.#reservation(inputTokens, 0, wantedOutput);
    // The answer's maximum counts as used until the real use is known: parallel calls must not exceed the budget
    // together.
    const wanted = wantedOutput === 0 ? usualOutput : wantedOutput;
    const most = Math.min(wanted, ...left.map(({ output }) => output));
    return this.#reservation(
      inputTokens + most,
      inputCost + (most * (price?.output ?? 0)) / 1e6,
      most < wanted ? most : wantedOutput,
    );
  }

  #reservation(tokens: number, cost: number, maxOutputTokens: number): Reservation {
    this.#reserved.tokens += tokens;
    this.#reserved.cost += cost;
    let open = true;
    const release = () => {
      if (!open) return;
      open = false;
      this.#reserved.tokens -= tokens;
      this.#reserved.cost -= cost;
    };
    return { type: "reserved", maxOutputTokens, release, used: (usage) => this.#book(usage) };
  }

  #book(usage: Usage): Cost | undefined {
    const tokens = usage.inputTokens + usage.outputTokens;
    this.#session.tokens += tokens;
    this.#turnTokens += tokens;
    const cost = this.#prices === undefined ? undefined : costOf(usage, this.#prices);
    this.#session.cost += cost?.amount ?? 0;
    return cost;
  }
}

function money(amount: number): string {
  return amount.toFixed(4);
}
