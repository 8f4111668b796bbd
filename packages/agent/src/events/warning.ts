import type { SessionEvent } from "./session-event.ts";

/** What a person should know, though the turn goes on. */
export interface Warning {
  readonly text: string;
  /** Stable: by it a client offers what mends it, in a way of its own. */
  readonly code?: string;
  /** What mends it where commands are typed. */
  readonly hint?: string;
}

/** @param warning the text alone, where no client can mend it */
export function warningEvent(warning: string | Warning): SessionEvent {
  return { type: "warning", ...(typeof warning === "string" ? { text: warning } : warning) };
}
