import { type PlanChange, stateAfter } from "@gennai/governance/plan-change";
import { PlanState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { planStateWords, stepStateWords } from "@gennai/protocol/model/governance/plan";
import { failureClassToMessage } from "@gennai/protocol/model/governance/tool-outcome";

/** A change of a plan as an event tells it; what stays as it was is unset. */
export function planChangeToWire(planId: string, change: PlanChange) {
  const state = stateAfter(change) ?? (change.type === "step" ? "executing" : undefined);
  return {
    planId,
    state: state === undefined ? PlanState.UNSPECIFIED : planStateWords.toMessage(state),
    digest: change.type === "submitted" ? change.digest : "",
    title: change.type === "submitted" ? change.title : "",
    text: textOf(change),
    ...(change.type === "step"
      ? {
          stepId: change.stepId,
          stepState: stepStateWords.toMessage(change.state),
          failureClass: failureClassToMessage(change.failureClass),
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
