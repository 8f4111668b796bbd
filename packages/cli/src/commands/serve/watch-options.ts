import { usageError } from "../../terminal/cli-error.ts";

export interface WatchFlags {
  /** Address where Prometheus asks, e.g. `9464` or `0.0.0.0:9464`. */
  readonly metrics?: string;
  /** Seconds that turns may go on after SIGTERM. */
  readonly drain?: string;
  /** Minutes without a client after which the server ends. */
  readonly quitWhenIdle?: string;
  /** The server ends with the program that holds the other end of its standard input. */
  readonly quitWithStdin?: boolean;
}

/** Longer than any useful time to wait for a server to stop. Seconds. */
const longestDrain = 3_600;

/** Milliseconds. Throws `CliError` for what is not a number of seconds. */
export function drainOption({ drain = "0" }: WatchFlags): number {
  const seconds = /^\d{1,4}$/.test(drain) ? Number(drain) : Number.NaN;
  if (seconds <= longestDrain) return seconds * 1_000;
  throw usageError(
    `--drain takes seconds, at most ${longestDrain}, not ${JSON.stringify(drain)}.`,
    "For example: --drain 25",
  );
}

/** Minutes; one day. */
const longestIdle = 1_440;

/** Milliseconds; undefined: the server runs until it is stopped. Throws `CliError`. */
export function idleOption({ quitWhenIdle }: WatchFlags): number | undefined {
  if (quitWhenIdle === undefined) return undefined;
  const minutes = /^\d{1,4}(\.\d{1,3})?$/.test(quitWhenIdle) ? Number(quitWhenIdle) : 0;
  if (minutes > 0 && minutes <= longestIdle) return minutes * 60_000;
  throw usageError(
    `--quit-when-idle takes minutes, more than 0 and at most ${longestIdle}, not ${JSON.stringify(quitWhenIdle)}.`,
    "For example: --quit-when-idle 10",
  );
}

/** Resolves when standard input ends. */
export function inputEnds(input: NodeJS.ReadableStream): Promise<"left"> {
  const { promise, resolve } = Promise.withResolvers<"left">();
  for (const name of ["end", "close", "error"]) input.once(name, () => resolve("left"));
  input.resume();
  return promise;
}
