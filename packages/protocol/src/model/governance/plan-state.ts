import { PlanState as PlanStateMessage, PlanStepState } from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";
import type { Risk } from "./risk.ts";

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

/** What every step of a plan says before it may run. */
export interface PlanStepContract {
  readonly id: string;
  readonly title: string;
  readonly intent: string;
  readonly description: string;
  /** Names of the tools its actions use, joined by `, `. */
  readonly tool: string;
  /** Computed by the server; a declared level can only raise it. */
  readonly risk: Risk;
  readonly requiresConfirmation: boolean;
  /** Commands that prove it. */
  readonly verificationPlan: readonly string[];
  /** If it names none, a step depends on the one before it. */
  readonly dependsOn: readonly string[];
}
