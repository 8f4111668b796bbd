import type { EnvelopeKind, PlanIssue, PlanView } from "@gennai/governance/plan";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import type { Session } from "../../session/session.ts";

/** Who approves. `loopback` came without a credential and is trusted less. */
export interface Approver {
  readonly who: string;
  readonly channel: "authenticated" | "loopback";
}

export interface SubmittedPlan {
  /** Unset if there are issues, or if the envelope contains no plan. */
  readonly plan?: PlanView;
  readonly issues: readonly PlanIssue[];
  readonly envelopeKind: EnvelopeKind;
}

export interface PlanApproval {
  /** 256 bits, base64url; shown once, spent once. */
  readonly approvalToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Plans of sessions: exactly the approved plan runs, byte for byte. Plans are stored here; callers give an id and a digest. All
 * methods reject with `ServiceError`: `not_found` for an unknown plan, `failed_precondition` for a wrong state,
 * `permission_denied` for a wrong digest, token or binding.
 */
export interface PlanAuthority {
  /**
   * Validates a plan, an envelope, or model output that contains one, and stores the plan as a draft.
   * @param options.strict the text must be only the JSON
   * @param options.contract every step must have the contract of seed 003; otherwise seed 000's form is accepted too
   */
  submit(
    session: Session,
    text: string,
    options: { readonly strict: boolean; readonly contract: boolean },
  ): Promise<SubmittedPlan>;
  /**
   * Diffs and the gate's verdict on every action; nothing runs. Afterwards the plan awaits approval, unless an action is
   * denied.
   */
  preview(
    session: Session,
    planId: string,
  ): Promise<{ readonly plan: PlanView; readonly actions: readonly PlannedAction[] }>;
  /** A user's approval of exactly this digest, of a previewed plan. Voids an earlier token of the plan. */
  approve(session: Session, planId: string, digest: string, by: Approver): Promise<PlanApproval>;
  /** Spends the token and runs the plan as a turn of the session; resolves when the run has ended, successful or not. */
  execute(
    session: Session,
    planId: string,
    digest: string,
    token: string,
    options: { readonly signal: AbortSignal },
  ): Promise<PlanView>;
  /** Runs the verification commands of the run that this token started. */
  verify(
    session: Session,
    planId: string,
    digest: string,
    token: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly plan: PlanView; readonly results: readonly VerificationResult[] }>;
  get(session: Session, planId: string): Promise<PlanView>;
  /** Newest first. */
  list(session: Session): Promise<readonly PlanView[]>;
}
