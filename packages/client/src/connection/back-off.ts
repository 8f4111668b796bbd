import type { CallOptions } from "./connection.ts";
export interface BackOff {
  /** Milliseconds before the second try; doubles from there. */
  readonly first: number;
  readonly longest: number;
}

export const defaultBackOff: BackOff = { first: 250, longest: 10_000 };

/** Milliseconds to wait before try `attempt` (1 is the first repetition): half fixed, half random, so that clients spread. */
export function backOffDelay(attempt: number, backOff: BackOff, random: () => number = Math.random): number {
  const full = Math.min(backOff.longest, backOff.first * 2 ** Math.min(attempt - 1, 30));
  return full / 2 + (full / 2) * random();
}

/** Resolves after `milliseconds`; rejects with the signal's reason when it aborts first. */
export function pause(milliseconds: number, options: CallOptions): Promise<void> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
