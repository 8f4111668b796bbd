import type { GateJournal } from "../gate-journal.ts";
import type { AskOptions } from "./confirm/ask-person.ts";
import type { LastingConnections } from "./confirm/lasting-connections.ts";
import type { CallRunner } from "./decide/call-runner.ts";
import type { DecideOptions } from "./decide/decided-call.ts";
import type { GateObserver } from "./decide/gate-observer.ts";
import type { RunningCalls } from "./running-calls.ts";
import type { StandingCheck } from "./standing-check.ts";

export interface GateOptions extends AskOptions, Omit<DecideOptions, "runner" | "isChanged"> {
  /** What is done around the tools; default: nothing. */
  readonly runner?: CallRunner;
  readonly journal: GateJournal;
  /** What programs may reach in every session of the workspace; without it, no such answer is offered. */
  readonly connections?: LastingConnections | undefined;
  /**
   * Waits until this session may write to its working tree, or has waited long enough. A call that only `singleWriter` denies
   * is decided about again after it. Rejects when the signal aborts. Without it such a call is refused at once.
   */
  readonly waitForTree?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Asked once more right before each effect, and again while it runs; e.g. the emergency controls. */
  readonly standingCheck?: StandingCheck;
  /** Is told which calls run, and stops single ones. */
  readonly running?: RunningCalls | undefined;
  /** Observes calls in progress; default: none. */
  readonly observer?: GateObserver;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
