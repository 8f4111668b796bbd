import type { AbsorbedStep } from "./absorbed-step.ts";
import type { ForgottenSession, SessionHead } from "./session-log.ts";

/** How a log forgets data that is also kept elsewhere. */
export interface Forgetting {
  /** Forgets for good, in its own transaction. Rejects with `StoreError`. */
  forget(head: SessionHead, by: string): Promise<ForgottenSession>;
  /** Takes a step of a log that is kept elsewhere. Within a transaction. */
  absorb(head: SessionHead, step: Extract<AbsorbedStep, { readonly type: "forget" }>): void;
}
