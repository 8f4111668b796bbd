import type { Connection } from "@gennai/governance/network/connection";
import type { BackgroundEnd } from "@gennai/machine/background/background-run";

/** A run in the background, for anyone who lists them. */
export interface BackgroundRunFacts {
  /** Unique in the session, e.g. `b1`. */
  readonly id: string;
  /** Redacted. */
  readonly command: string;
  readonly state: "running" | "ended";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Of one that ended by itself. */
  readonly exitCode?: number;
  /** How it ended, e.g. `exit code 1`, `stopped by the model`. */
  readonly end?: string;
  readonly ports: readonly { readonly port: number; readonly local: number }[];
  /** Not every change of others reaches it. */
  readonly isPartial: boolean;
}

/** What happened to a run, for the session's log. */
export interface BackgroundRunChange {
  readonly run: BackgroundRunFacts;
  readonly what: "started" | "ended" | "port-opened";
  /** Of one that ended: all that it reached, or was refused. */
  readonly connections?: readonly Connection[];
}

/** Who stopped a run, when it was the model itself. */
export const byModel = "the model";

/** In words. */
export function howEnded(end: BackgroundEnd): string {
  if ("failure" in end) return end.failure;
  const { state, exitCode, signal, exceeded } = end.run;
  if (state === "over-limit") return exceeded ?? "it took too much of the machine";
  if (state === "timed-out") return "it ran too long";
  return exitCode === undefined ? `ended by signal ${signal ?? "unknown"}` : `exit code ${exitCode}`;
}
