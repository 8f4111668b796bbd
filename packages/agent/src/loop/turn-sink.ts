import type { SessionEvent } from "../events/session-event.ts";

/** Where the loop puts what happens. Events arrive in the session's log in this order. */
export interface TurnSink {
  /** @param itemId joins the deltas of one item */
  emit(event: SessionEvent, itemId?: string): void;
  /** Resolves when everything emitted so far is on its way to the log, before anything that others write from then on. */
  settle(): Promise<void>;
  /** Resolves when everything emitted so far is in the log and folded into the conversation. */
  flush(): Promise<void>;
}
