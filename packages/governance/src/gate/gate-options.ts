import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { Confirmer } from "../confirmation.ts";
import type { Policy } from "../policy.ts";
import type { Redactor } from "../redaction.ts";
import type { Tool } from "../tool.ts";
import type { CallRunner } from "./call-runner.ts";
import type { LastingConnections } from "./confirm/lasting-connections.ts";
import type { PersistentApprovals } from "./confirm/persistent-approvals.ts";
import type { RememberedAnswers } from "./confirm/remembered-answers.ts";
import type { GateObserver } from "./decide/gate-observer.ts";
import type { GateJournal } from "./gate-journal.ts";
import type { RunningCalls } from "./running-calls.ts";
import type { StandingCheck } from "./standing-check.ts";

export interface GateOptions {
  readonly sessionId: string;
  readonly tools: ReadonlyMap<string, Tool>;
  /** What is done around the tools; default: nothing. */
  readonly runner?: CallRunner;
  readonly policies: readonly Policy[];
  readonly confirmer: Confirmer;
  readonly journal: GateJournal;
  readonly redactor: Redactor;
  readonly remembered: RememberedAnswers;
  /** Answers that hold beyond the session; without it none is offered. */
  readonly lasting?: PersistentApprovals | undefined;
  /** What programs may reach in every session of the workspace; without it, no such answer is offered. */
  readonly connections?: LastingConnections | undefined;
  /** How long a yes lasts at most; undefined: as long as it is offered. */
  readonly longestYes?: ConfirmationScope | undefined;
  /** SHA-256 of the rules in force, shown with every question. */
  readonly policySha256: string;
  /** The intent the session works under, shown with every question. */
  readonly intent?: () => { readonly id: string; readonly name: string } | undefined;
  /** How the server's own commands run, shown with questions about them. */
  readonly isolation?: "sandboxed" | "unsandboxed";
  /**
   * Waits until this session may write to its working tree, or has waited long enough. A call that only `singleWriter` denies
   * is decided about again after it. Rejects when the signal aborts. Without it such a call is refused at once.
   */
  readonly waitForTree?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Milliseconds a policy may take; then it counts as failed. */
  readonly policyTimeoutMs: number;
  /** Asked once more right before each effect, and again while it runs; e.g. the emergency controls. */
  readonly standingCheck?: StandingCheck;
  /** Is told which calls run, and stops single ones. */
  readonly running?: RunningCalls | undefined;
  /** Observes calls in progress; default: none. */
  readonly observer?: GateObserver;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
