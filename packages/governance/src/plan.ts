import type { PlanState, PlanStepContract, StepState } from "@gennai/protocol/model/governance/plan-state";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";

/** The level of validation that found an issue. */
export type PlanIssueLevel = "json" | "schema" | "contract";

/** Why a text is not a plan that could be approved. */
export interface PlanIssue {
  /** Into the text, e.g. `steps[0].actions[1].path`; empty for the whole. */
  readonly path: string;
  /** What is wrong and how to correct it. */
  readonly message: string;
  readonly level: PlanIssueLevel;
}

/** The kind of envelope found in a text; empty when there was none. */
export type EnvelopeKind = "plan" | "chat" | "error" | "";

/** A plan as people and clients see it. */
export interface PlanView {
  readonly planId: string;
  readonly state: PlanState;
  /** SHA-256 over `planJson`, lower-case hex. */
  readonly digest: string;
  /** The plan as it was parsed, RFC 8785 canonical. */
  readonly planJson: string;
  readonly title: string;
  readonly summary: string;
  readonly steps: readonly PlanStepView[];
  /** Every action reported success. A claim. */
  readonly claimed: boolean;
  /** Every action took effect, by what the server saw of the world after it. */
  readonly executed: boolean;
  /** Every verification command ran and passed; never true without one. */
  readonly verified: boolean;
  /** What a user can do after a failed run; otherwise empty. */
  readonly remediation: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** The turn that ran it, and the change set of its files; undefined before it ran. */
  readonly runTurnId?: string;
  readonly results: readonly VerificationResult[];
}

/** A step of a plan with the fields of the step contract (seed 003, section 6). */
export interface PlanStepView extends PlanStepContract {
  readonly state: StepState;
  readonly failureClass?: FailureClass;
  /** Output of what ran, redacted, bounded. */
  readonly evidence: string;
}
