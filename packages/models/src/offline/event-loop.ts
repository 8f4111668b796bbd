import { setImmediate as nextTick } from "node:timers/promises";

/** Lets the process breathe: a model that answers from memory would else hold the event loop for its whole answer. */
export function breathe(signal: AbortSignal): Promise<void> {
  return nextTick(undefined, { signal });
}
