import type { AbsorbedStep } from "./absorbed-step.ts";
import type { ForgottenSession, SessionHead } from "./session-log.ts";

/** How a log forgets what is in more places than its own. */
export interface Forgetting {
  /** For good, in a transaction of its own. Rejects with `StoreError`. */
  forget(head: SessionHead, by: string): Promise<ForgottenSession>;
  /** Within a transaction: a step of a log that is kept elsewhere. */
  absorb(head: SessionHead, step: Extract<AbsorbedStep, { readonly type: "forget" }>): void;
}
