import type { CallOutcome, Decision } from "../../gate-journal.ts";
import type { DecidedCall } from "./decided-call.ts";

/**
 * Watches calls on their way through the gate, for measurements. Each method runs the work it is given, once, and passes on
 * the result, errors included: nothing that an observer does changes what the gate decides.
 */
export interface GateObserver {
  /** Around stages 1 to 4. */
  decide(run: () => Promise<DecidedCall>): Promise<DecidedCall>;
  /** Around stages 7 and 8, and also around a refused call, which comes back at once with `outcome` undefined. */
  execute(decision: Decision, run: () => Promise<CallOutcome>): Promise<CallOutcome>;
}

/** Observes nothing. */
export const unobservedGate: GateObserver = {
  decide: (run) => run(),
  execute: (_decision, run) => run(),
};
