import type { EnvelopeKind, PlanIssue, PlanView } from "@gennai/governance/plan/plan";
import type { PlannedAction } from "@gennai/protocol/model/governance/planned-action";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import type { Session } from "../../session/session.ts";

/** Who approves. `loopback` came in without a credential and is trusted less. */
export interface Approver {
  readonly who: string;
  readonly channel: "authenticated" | "loopback";
}

export interface SubmittedPlan {
  /** Unset when there are issues, or when the envelope holds no plan. */
  readonly plan?: PlanView;
  readonly issues: readonly PlanIssue[];
  readonly envelopeKind: EnvelopeKind;
}

export interface PlanApproval {
  /** 256 bits, base64url; told once, spent once. */
  readonly approvalToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Plans of sessions: a plan that was approved is the plan that runs, byte for byte. Plans are held here; callers name an id
 * and a digest. All methods reject with `ServiceError`: `not_found` for an unknown plan, `failed_precondition` for a state in
 * which it cannot be done, `permission_denied` for a digest, token or binding that does not fit.
 */
export interface PlanAuthority {
  /**
   * Validates a plan, an envelope, or model output with one in it, and keeps the plan as a draft.
   * @param options.strict the text must be the JSON and nothing else
   * @param options.contract every step must carry the contract of seed 003; otherwise seed 000's words are taken, too
   */
  submit(
    session: Session,
    text: string,
    options: { readonly strict: boolean; readonly contract: boolean },
  ): Promise<SubmittedPlan>;
  /** Diffs and the gate's word on every action; nothing runs. The plan awaits approval after it, unless an action is denied. */
  preview(
    session: Session,
    planId: string,
  ): Promise<{ readonly plan: PlanView; readonly actions: readonly PlannedAction[] }>;
  /** A person's approval of exactly this digest, of a plan that was previewed. An earlier token of the plan is void. */
  approve(session: Session, planId: string, digest: string, by: Approver): Promise<PlanApproval>;
  /** Spends the token and runs the plan as a turn of the session; resolves when the run has ended, however it did. */
  execute(
    session: Session,
    planId: string,
    digest: string,
    token: string,
    options: { readonly signal: AbortSignal },
  ): Promise<PlanView>;
  /** Runs the verification commands of the run that this token opened. */
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
