import type { PlanState, StepState } from "@gennai/protocol/model/governance/plan";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";

/** The computed risk of a step. */
export interface StepRisk {
  readonly stepId: string;
  readonly risk: Risk;
}

/** What a preview was based on. An approval is for exactly this; any change makes it void. */
export interface PlanPreview {
  /** SHA-256 over every action as it was shown: verdicts, differences, and the hashes they rest on. */
  readonly shownSha256: string;
  /** Commit and branch, as text. */
  readonly head: string;
  readonly policySha256: string;
  /** SHA-256 of the limits in force, without the emergency controls. */
  readonly capabilitiesSha256: string;
  /** SHA-256 of the emergency controls at that time. */
  readonly emergencySha256: string;
  /** SHA-256 of the intent the session worked under, with its scope, or of there being none. */
  readonly intentSha256: string;
  /** The first denial; absent when nothing was denied. */
  readonly denied?: string;
  /** The first change that certainly does not fit its file; absent if there is none. */
  readonly unfit?: string;
}

/** A token that waits for its execution, without the token itself. */
export interface PlanApproval {
  readonly tokenSha256: string;
  readonly sessionId: string;
  readonly planId: string;
  readonly digest: string;
  readonly workspaceRoot: string;
  readonly preview: PlanPreview;
  readonly by: string;
  readonly channel: "authenticated" | "loopback";
  /** Milliseconds, on two clocks: a single one can be set back, or stop while the machine sleeps. */
  readonly expires: {
    readonly wall: number;
    readonly monotonic: number;
    /** Names the start of the machine that the monotonic clock counts from. */
    readonly boot: string;
  };
}

/** One fact about a plan, as logged. Texts in it are redacted; the plan's own bytes are stored separately, by digest. */
export type PlanChange =
  | {
      readonly type: "submitted";
      readonly digest: string;
      readonly title: string;
      readonly steps: readonly StepRisk[];
      /** The model whose unmodified answer it is; absent for a plan that someone else wrote or edited. */
      readonly modelId?: string;
    }
  /** Its actions were worked out and can be shown. Risks may have risen since; they never fall. */
  | { readonly type: "previewed"; readonly steps: readonly StepRisk[]; readonly preview?: PlanPreview }
  /** Nothing in it is denied: a user may approve it. */
  | { readonly type: "offered" }
  /** A person's yes to this digest; the run opens when its token is spent. */
  | { readonly type: "approved"; readonly by: string; readonly channel: string; readonly approval?: PlanApproval }
  /** A wrong token was presented: the approval is void, for all processes. */
  | { readonly type: "approval-voided" }
  | { readonly type: "run-opened"; readonly runTurnId: string; readonly tokenSha256: string }
  | {
      readonly type: "step";
      readonly stepId: string;
      readonly state: StepState;
      readonly failureClass?: FailureClass;
      readonly evidence: string;
    }
  | {
      readonly type: "run-ended";
      readonly state: "verifying" | "failed" | "partial" | "unverified" | "interrupted";
      readonly claimed: boolean;
      readonly executed: boolean;
      readonly remediation: string;
    }
  | { readonly type: "verification-opened"; readonly turnId: string }
  | {
      readonly type: "verification-ended";
      readonly state: "done" | "failed" | "interrupted";
      readonly results: readonly VerificationResult[];
      readonly remediation: string;
    };

/** States that a change of this type leads to, whatever it says besides; undefined when the state stays. */
export function stateAfter(change: PlanChange): PlanState | undefined {
  switch (change.type) {
    case "submitted":
      return "draft";
    case "previewed":
      return "preview";
    case "offered":
      return "awaiting_approval";
    case "run-opened":
      return "executing";
    case "run-ended":
    case "verification-ended":
      return change.state;
    case "approved":
    case "approval-voided":
    case "step":
    case "verification-opened":
      return undefined;
  }
}
