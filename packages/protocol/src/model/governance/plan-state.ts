import { PlanState as PlanStateMessage, PlanStepState } from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";

/** The states of a plan, and what a run can end as besides. */
export const planStateWords = new EnumWords({
  draft: PlanStateMessage.DRAFT,
  preview: PlanStateMessage.PREVIEW,
  awaiting_approval: PlanStateMessage.AWAITING_APPROVAL,
  executing: PlanStateMessage.EXECUTING,
  verifying: PlanStateMessage.VERIFYING,
  done: PlanStateMessage.DONE,
  failed: PlanStateMessage.FAILED,
  /** Some steps took effect and a later one did not. */
  partial: PlanStateMessage.PARTIAL,
  /** The server went away in the middle of it. */
  interrupted: PlanStateMessage.INTERRUPTED,
  /** Ran to its end and had nothing to verify with: success is not claimed. */
  unverified: PlanStateMessage.UNVERIFIED,
});

export type PlanState = (typeof planStateWords.words)[number];

export const stepStateWords = new EnumWords({
  pending: PlanStepState.PENDING,
  running: PlanStepState.RUNNING,
  executed: PlanStepState.EXECUTED,
  failed: PlanStepState.FAILED,
  skipped: PlanStepState.SKIPPED,
});

export type StepState = (typeof stepStateWords.words)[number];
