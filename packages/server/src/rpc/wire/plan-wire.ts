import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { PlanState as DomainState, StepState as DomainStepState, PlanView } from "@gennai/governance/plan/plan";
import { type PlanChange, stateAfter } from "@gennai/governance/plan/plan-change";
import { PlanState, PlanStepState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { ActionPreview } from "../../plans/plan-authority.ts";
import { changeToWire } from "./change-wire.ts";
import { failureClassToWire, riskToWire, verdictToWire } from "./governance-wire.ts";

const states: Record<DomainState, PlanState> = {
  draft: PlanState.DRAFT,
  preview: PlanState.PREVIEW,
  awaiting_approval: PlanState.AWAITING_APPROVAL,
  executing: PlanState.EXECUTING,
  verifying: PlanState.VERIFYING,
  done: PlanState.DONE,
  failed: PlanState.FAILED,
  partial: PlanState.PARTIAL,
  interrupted: PlanState.INTERRUPTED,
  unverified: PlanState.UNVERIFIED,
};

const stepStates: Record<DomainStepState, PlanStepState> = {
  pending: PlanStepState.PENDING,
  running: PlanStepState.RUNNING,
  executed: PlanStepState.EXECUTED,
  failed: PlanStepState.FAILED,
  skipped: PlanStepState.SKIPPED,
};

export function planToWire(plan: PlanView) {
  const { planId, digest, planJson, title, summary, claimed, executed, verified, remediation } = plan;
  return {
    ...{ planId, digest, planJson, title, summary, claimed, executed, verified, remediation },
    state: states[plan.state],
    created: timestampFromMs(plan.created),
    steps: plan.steps.map((step) => ({
      ...step,
      risk: riskToWire(step.risk),
      verificationPlan: [...step.verificationPlan],
      dependsOn: [...step.dependsOn],
      state: stepStates[step.state],
      failureClass: failureClassToWire(step.failureClass),
    })),
  };
}

export function actionToWire(action: ActionPreview) {
  const { change, command, cwd, ...rest } = action;
  return {
    ...rest,
    command: command ?? "",
    cwd: cwd ?? "",
    verdict: verdictToWire(action.verdict),
    risk: riskToWire(action.risk),
    ...(change === undefined ? {} : { change: changeToWire(change) }),
  };
}

/** A change of a plan as an event tells it; what stays as it was is unset. */
export function planChangeToWire(planId: string, change: PlanChange) {
  const state = stateAfter(change) ?? (change.type === "step" ? "executing" : undefined);
  return {
    planId,
    state: state === undefined ? PlanState.UNSPECIFIED : states[state],
    digest: change.type === "submitted" ? change.digest : "",
    title: change.type === "submitted" ? change.title : "",
    text: textOf(change),
    ...(change.type === "step"
      ? {
          stepId: change.stepId,
          stepState: stepStates[change.state],
          failureClass: failureClassToWire(change.failureClass),
        }
      : {}),
  };
}

function textOf(change: PlanChange): string {
  switch (change.type) {
    case "submitted":
      return "The plan was submitted.";
    case "previewed":
      return "The plan was previewed.";
    case "offered":
      return "The plan awaits approval.";
    case "approved":
      return `${change.by} approved the plan (${change.channel}).`;
    case "approval-voided":
      return "The approval is void: too many wrong tokens were tried.";
    case "run-opened":
      return "The approved plan runs.";
    case "step":
      return change.state === "running" ? "" : change.evidence.slice(0, 500).toWellFormed();
    case "run-ended":
      return change.remediation === "" ? "Every step was executed." : change.remediation;
    case "verification-opened":
      return "The plan is being verified.";
    case "verification-ended":
      return change.remediation === "" ? "Every verification command passed." : change.remediation;
  }
}
