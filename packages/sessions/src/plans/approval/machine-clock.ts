import { readFileSync } from "node:fs";

/** Clocks for the age of a token, shared by all processes of this machine. */
export interface TokenClock {
  /** Milliseconds since the machine started; never goes backwards. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  /** Identifies the boot of the machine from which `monotonic` counts. */
  readonly boot: string;
}

/** Clocks that all processes since this boot agree on. */
export function machineClock(wall: () => number): TokenClock {
  return { monotonic: () => Number(process.hrtime.bigint() / 1_000_000n), wall, boot: bootOfMachine() };
}

/** Empty if the system does not say: then a restart shows only in the reset monotonic clock. */
function bootOfMachine(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
