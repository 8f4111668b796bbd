import { usageError } from "../../errors/cli-error.ts";

export interface WatchFlags {
  /** Where Prometheus asks, e.g. `9464` or `0.0.0.0:9464`. */
  readonly metrics?: string;
  /** Seconds that turns may go on after SIGTERM. */
  readonly drain?: string;
}

/** Longer than anybody waits for a server to leave. Seconds. */
const longestDrain = 3_600;

/** Milliseconds. */
export function drainOption({ drain = "0" }: WatchFlags): number {
  const seconds = /^\d{1,4}$/.test(drain) ? Number(drain) : Number.NaN;
  if (seconds <= longestDrain) return seconds * 1_000;
  throw usageError(
    `--drain takes seconds, at most ${longestDrain}, not ${JSON.stringify(drain)}.`,
    "For example: --drain 25",
  );
}
