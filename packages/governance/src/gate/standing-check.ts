import { errorMessage } from "@gennai/protocol/error-message";
import type { PolicyInput } from "../policy.ts";
import { deny, type Verdict } from "../verdict.ts";

/**
 * A check that continues after the decision: it runs again right before the effect, and whenever what it depends on changes
 * during the call. Any result but allow ends the call.
 */
export interface StandingCheck {
  check(input: PolicyInput): Verdict;
  onChange(listener: () => void): Disposable;
}

/** Watches one call from right before its effect to its end. */
export class WatchedCall implements Disposable {
  readonly #abort = new AbortController();
  readonly #subscription: Disposable | undefined;
  #refusal: Exclude<Verdict, { readonly type: "allow" }> | undefined;

  constructor(check: StandingCheck | undefined, input: PolicyInput) {
    if (check === undefined) return;
    const look = (): void => {
      if (this.#refusal !== undefined) return;
      const verdict = verdictOf(check, input);
      if (verdict.type === "allow") return;
      this.#refusal = verdict;
      this.#abort.abort(new DOMException(verdict.finding.reason, "AbortError"));
    };
    // First the listener: a change between the two must not be missed.
    this.#subscription = check.onChange(look);
    look();
  }

  /** Aborts when the call may not go on. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the call must stop; undefined while it may continue. */
  get refusal(): Exclude<Verdict, { readonly type: "allow" }> | undefined {
    return this.#refusal;
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]();
  }
}

function verdictOf(check: StandingCheck, input: PolicyInput): Verdict {
  try {
    return check.check(input);
  } catch (error) {
    const problem = errorMessage(error);
    return deny({
      code: "gate_failed",
      rule: "gate/last-check",
      reason: `The last check before the effect failed, so the call does not run: ${problem}`,
    });
  }
}
