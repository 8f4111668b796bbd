import type { SessionEvent } from "../events/session-event.ts";

/** Receives the loop's events. They reach the session's log in this order. */
export interface TurnSink {
  /** @param itemId joins the deltas of one item */
  emit(event: SessionEvent, itemId?: string): void;
  /** Resolves when all events so far are queued for the log, ahead of anything that others write later. */
  settle(): Promise<void>;
  /** Resolves when all events so far are in the log and folded into the conversation. */
  flush(): Promise<void>;
}
