import type { PlanChange } from "@gennai/governance/plan-change";
import { assertMayChange, IllegalPlanChange, type PlanRecord } from "@gennai/governance/plan-record";
import { ServiceError, type ServiceErrorCode } from "@gennai/machine/service-error";

/** Why a plan was not approved, executed or verified. Stable; clients get it as the error's code. */
export type PlanRefusalReason =
  | "unknown_plan"
  | "illegal_state"
  | "not_previewed"
  | "action_denied"
  | "change_does_not_fit"
  | "bad_digest"
  | "digest_mismatch"
  | "plan_damaged"
  | "token_missing"
  | "token_unknown"
  | "token_bound_elsewhere"
  | "token_expired"
  | "token_spent"
  | "too_many_attempts"
  | "head_moved"
  | "policy_changed"
  | "capabilities_changed"
  | "emergency_changed"
  | "intent_changed"
  | "preview_changed"
  | "proposal_mode"
  | "nobody_to_ask"
  | "too_many_plans";

const codes: Record<PlanRefusalReason, ServiceErrorCode> = {
  unknown_plan: "not_found",
  illegal_state: "failed_precondition",
  not_previewed: "failed_precondition",
  action_denied: "failed_precondition",
  change_does_not_fit: "failed_precondition",
  bad_digest: "invalid_argument",
  digest_mismatch: "permission_denied",
  plan_damaged: "failed_precondition",
  token_missing: "permission_denied",
  token_unknown: "permission_denied",
  token_bound_elsewhere: "permission_denied",
  token_expired: "permission_denied",
  token_spent: "permission_denied",
  too_many_attempts: "permission_denied",
  head_moved: "failed_precondition",
  policy_changed: "failed_precondition",
  capabilities_changed: "failed_precondition",
  emergency_changed: "failed_precondition",
  intent_changed: "failed_precondition",
  preview_changed: "failed_precondition",
  proposal_mode: "failed_precondition",
  nobody_to_ask: "failed_precondition",
  too_many_plans: "resource_exhausted",
};

export function planRefusal(reason: PlanRefusalReason, message: string, hint?: string): ServiceError {
  return new ServiceError(codes[reason], message, { reason, hint });
}

/** Throws `illegal_state` unless the plan's state allows the change. */
export function assertPlanMay(plan: PlanRecord, change: Exclude<PlanChange["type"], "submitted">): void {
  try {
    assertMayChange(plan, change);
  } catch (error) {
    if (!(error instanceof IllegalPlanChange)) throw error;
    throw planRefusal("illegal_state", error.message, nextStep[plan.state]);
  }
}

const nextStep: Record<PlanRecord["state"], string> = {
  draft: "Preview it first.",
  preview: "Correct what the preview denies, or submit another plan.",
  awaiting_approval: "Approve it, then execute it.",
  executing: "Wait for the end of its run, or stop that turn.",
  verifying: "Verify it with the token that opened its run.",
  done: "Submit it again to run it again.",
  failed: "Submit it again to run it again.",
  partial: "Undo its changes, or submit a plan of the remaining steps.",
  interrupted: "Look at the workspace, then submit a plan of what remains.",
  unverified: "Submit a plan with verification commands.",
};
