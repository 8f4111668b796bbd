import type { Connection } from "@gennai/governance/connection";
import type { BackgroundEnd } from "@gennai/shell/background/background-run";

/** A background run, as listed. */
export interface BackgroundRunFacts {
  /** Unique in the session, e.g. `b1`. */
  readonly id: string;
  /** Redacted. */
  readonly command: string;
  readonly state: "running" | "ended";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Set if it ended by itself. */
  readonly exitCode?: number;
  /** How it ended, e.g. `exit code 1`, `stopped by the model`. */
  readonly end?: string;
  readonly ports: readonly { readonly port: number; readonly local: number }[];
  /** Some changes by others are not visible to it. */
  readonly isPartial: boolean;
}

/** What happened to a run, for the session's log. */
export interface BackgroundRunChange {
  readonly run: BackgroundRunFacts;
  readonly what: "started" | "ended" | "port-opened";
  /** For an ended run: every connection it made or was refused. */
  readonly connections?: readonly Connection[];
}

/** Value of `stoppedBy` if the model stopped the run. */
export const byModel = "the model";

/** How it ended, in words. */
export function howEnded(end: BackgroundEnd): string {
  if ("how" in end) return end.how;
  const { state, exitCode, signal, exceeded } = end.run;
  if (state === "over-limit") return exceeded ?? "it took too much of the machine";
  if (state === "timed-out") return "it ran too long";
  return exitCode === undefined ? `ended by signal ${signal ?? "unknown"}` : `exit code ${exitCode}`;
}
