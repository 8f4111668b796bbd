import {
  FailureClass,
  PlanStepState,
  PlanState as StateMessage,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { PlanState, StepState } from "./plan.ts";

/** A state that this client does not know is `unknown`. */
export function planStateWord(state: StateMessage): PlanState {
  return planStates[state] ?? "unknown";
}

export function stepStateWord(state: PlanStepState): StepState {
  return stepStates[state] ?? "pending";
}

/** Empty where nothing failed. */
export function failureWord(failure: FailureClass): string {
  return failureWords[failure] ?? "";
}

const planStates: Partial<Record<StateMessage, PlanState>> = {
  [StateMessage.DRAFT]: "draft",
  [StateMessage.PREVIEW]: "preview",
  [StateMessage.AWAITING_APPROVAL]: "awaiting_approval",
  [StateMessage.EXECUTING]: "executing",
  [StateMessage.VERIFYING]: "verifying",
  [StateMessage.DONE]: "done",
  [StateMessage.FAILED]: "failed",
  [StateMessage.PARTIAL]: "partial",
  [StateMessage.INTERRUPTED]: "interrupted",
  [StateMessage.UNVERIFIED]: "unverified",
};

const stepStates: Partial<Record<PlanStepState, StepState>> = {
  [PlanStepState.RUNNING]: "running",
  [PlanStepState.EXECUTED]: "executed",
  [PlanStepState.FAILED]: "failed",
  [PlanStepState.SKIPPED]: "skipped",
};

const failureWords: Partial<Record<FailureClass, string>> = {
  [FailureClass.PERMISSION_DENIED]: "permission_denied",
  [FailureClass.TOOL_UNAVAILABLE]: "tool_unavailable",
  [FailureClass.COMMAND_ERROR]: "command_error",
  [FailureClass.TIMEOUT]: "timeout",
  [FailureClass.PARTIAL_EXECUTION]: "partial_execution",
};
