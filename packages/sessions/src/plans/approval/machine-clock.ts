import { readFileSync } from "node:fs";

/** Clocks by which a token's age is told in any process of this machine. */
export interface TokenClock {
  /** Milliseconds since the machine started, never turned back. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  /** Names the start of the machine that `monotonic` counts from. */
  readonly boot: string;
}

/** What every process that this start of the machine runs agrees on. */
export function machineClock(wall: () => number): TokenClock {
  return { monotonic: () => Number(process.hrtime.bigint() / 1_000_000n), wall, boot: bootOfMachine() };
}

/** Empty where the system does not say: then a restart shows only by the clock that began anew. */
function bootOfMachine(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
