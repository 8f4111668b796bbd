import type { SessionEvent } from "./session-event.ts";

/** A problem that a person should know about, although the turn continues. */
export interface Warning {
  readonly text: string;
  /** Stable code that tells a client which remedy of its own to offer. */
  readonly code?: string;
  /** What to do about it on the command line. */
  readonly hint?: string;
}

/** @param warning only the text, if no client can offer a remedy */
export function warningEvent(warning: string | Warning): SessionEvent {
  return { type: "warning", ...(typeof warning === "string" ? { text: warning } : warning) };
}
