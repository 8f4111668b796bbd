import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { PlanState as PlanStateMessage, PlanStepState } from "../../gen/gennai/agent/v1/governance_pb.ts";
import type { Plan as PlanMessage, PlanSchema, PlanStep as StepMessage } from "../../gen/gennai/agent/v1/plan_pb.ts";
import { EnumWords } from "../enum-words.ts";
import { type Risk, riskFromMessage, riskWords } from "./risk.ts";
import { type FailureClass, failureClassToMessage, failureClassWords } from "./tool-outcome.ts";

/** The scenario in which a model answers with a plan. */
export const planScenarioName = "PLAN";

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

export interface PlanStep extends PlanStepContract {
  readonly state: StepState;
  /** Empty where nothing failed. */
  readonly failureClass: FailureClass | "";
  /** Output of what ran, redacted, bounded. */
  readonly evidence: string;
}

/** A plan that the server holds, as people and clients see it. */
export interface Plan {
  readonly planId: string;
  /** `unknown`: a state that this client does not know. */
  readonly state: PlanState | "unknown";
  /** SHA-256 of `planJson`, lower-case hex: what an approval is for. */
  readonly digest: string;
  /** The plan as it was parsed, RFC 8785 canonical; empty when it was purged. */
  readonly planJson: string;
  readonly title: string;
  readonly summary: string;
  readonly steps: readonly PlanStep[];
  /** Every action reported success. A claim. */
  readonly claimed: boolean;
  /** Every action took effect, by what the server saw of the world after it. */
  readonly executed: boolean;
  /** Every verification command ran and passed; never true without one. */
  readonly verified: boolean;
  /** What a user can do after a failed run, or why the plan cannot be approved; otherwise empty. */
  readonly remediation: string;
}

/** Why a text is not a plan that could be approved. */
export interface PlanIssue {
  /** Into the text, e.g. `steps[0].actions[1].path`; empty for the whole. */
  readonly path: string;
  /** What is wrong and how to correct it. */
  readonly message: string;
  /** `json`, `schema` or `contract`: the level of validation that found it. */
  readonly level: string;
}

/** @param plan.created milliseconds since the epoch */
export function planToMessage(
  plan: Plan & { readonly state: PlanState; readonly created: number },
): MessageInitShape<typeof PlanSchema> {
  const { planId, digest, planJson, title, summary, claimed, executed, verified, remediation } = plan;
  return {
    planId,
    digest,
    planJson,
    title,
    summary,
    claimed,
    executed,
    verified,
    remediation,
    state: planStateWords.toMessage(plan.state),
    created: timestampFromMs(plan.created),
    steps: plan.steps.map((step) => ({
      ...step,
      risk: riskWords.toMessage(step.risk),
      verificationPlan: [...step.verificationPlan],
      dependsOn: [...step.dependsOn],
      state: stepStateWords.toMessage(step.state),
      failureClass: failureClassToMessage(step.failureClass === "" ? undefined : step.failureClass),
    })),
  };
}

export function planFromMessage(message: PlanMessage | undefined): Plan {
  return {
    planId: message?.planId ?? "",
    state: planStateWords.fromMessage(message?.state ?? PlanStateMessage.UNSPECIFIED) ?? "unknown",
    digest: message?.digest ?? "",
    planJson: message?.planJson ?? "",
    title: message?.title ?? "",
    summary: message?.summary ?? "",
    steps: (message?.steps ?? []).map(stepFromMessage),
    // A success that is not stated does not count.
    claimed: message?.claimed ?? false,
    executed: message?.executed ?? false,
    verified: message?.verified ?? false,
    remediation: message?.remediation ?? "",
  };
}

function stepFromMessage(message: StepMessage): PlanStep {
  const { id, title, intent, description, tool, requiresConfirmation, verificationPlan, dependsOn, evidence } = message;
  return {
    id,
    title,
    intent,
    description,
    tool,
    requiresConfirmation,
    verificationPlan,
    dependsOn,
    evidence,
    risk: riskFromMessage(message.risk),
    state: stepStateWords.fromMessage(message.state) ?? "pending",
    failureClass: failureClassWords.fromMessage(message.failureClass) ?? "",
  };
}
