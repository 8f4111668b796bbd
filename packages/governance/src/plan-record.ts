import type { PlanState, StepState } from "@gennai/protocol/model/governance/plan";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import { type PlanApproval, type PlanChange, type PlanPreview, type StepRisk, stateAfter } from "./plan-change.ts";

export interface StepRecord {
  readonly stepId: string;
  readonly risk: Risk;
  readonly state: StepState;
  readonly failureClass?: FailureClass;
  readonly evidence: string;
}

/** The logged state of a plan: a fold over its changes. Its bytes are in the blob store under `digest`. */
export interface PlanRecord {
  readonly planId: string;
  readonly digest: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly state: PlanState;
  readonly steps: readonly StepRecord[];
  /** The model whose unmodified answer it is; empty for a plan that someone else wrote or edited. */
  readonly modelId: string;
  readonly claimed: boolean;
  readonly executed: boolean;
  readonly verified: boolean;
  readonly results: readonly VerificationResult[];
  readonly remediation: string;
  /** The newest preview; logs of before it was kept have none. */
  readonly preview?: PlanPreview;
  /** The approval that waits for its execution. */
  readonly approval?: PlanApproval;
  /** SHA-256 of the token that started the run. */
  readonly tokenSha256?: string;
  /** Who approved it last, and through which channel. */
  readonly approvedBy?: { readonly who: string; readonly channel: string };
  readonly runTurnId?: string;
  readonly verifyTurnId?: string;
}

/** A change that the plan's state does not allow. */
export class IllegalPlanChange extends Error {
  override readonly name = "IllegalPlanChange";
  readonly state: PlanState | undefined;

  constructor(state: PlanState | undefined, change: PlanChange["type"]) {
    super(state === undefined ? "There is no such plan." : `${describe[change]}: the plan is in the state ${state}.`);
    this.state = state;
  }
}

const describe: Record<PlanChange["type"], string> = {
  submitted: "A plan is submitted once",
  previewed: "Only a draft, or a plan that awaits approval, can be previewed",
  offered: "Only a plan that was previewed can be offered for approval",
  approved: "Only a plan that awaits approval can be approved",
  "approval-voided": "Only a plan that awaits approval has an approval that can become void",
  "run-opened": "Only a plan that awaits approval can be executed",
  step: "Steps change only while the plan is executing",
  "run-ended": "Only a plan that is executing can end its run",
  "verification-opened": "Only a plan whose run went through can be verified",
  "verification-ended": "Only a plan that is being verified can end its verification",
};

/** States in which each change may come. All others are refused. */
const allowedIn: Record<Exclude<PlanChange["type"], "submitted">, readonly PlanState[]> = {
  previewed: ["draft", "preview", "awaiting_approval"],
  offered: ["preview"],
  approved: ["awaiting_approval"],
  "approval-voided": ["awaiting_approval"],
  "run-opened": ["awaiting_approval"],
  step: ["executing"],
  "run-ended": ["executing"],
  "verification-opened": ["verifying"],
  "verification-ended": ["verifying"],
};

/**
 * The plan after a change. Throws `IllegalPlanChange`.
 * @param plan undefined before it is submitted
 * @param time milliseconds since the epoch
 */
export function applyPlanChange(
  plan: PlanRecord | undefined,
  planId: string,
  change: PlanChange,
  time: number,
): PlanRecord {
  if (change.type === "submitted") {
    if (plan !== undefined) throw new IllegalPlanChange(plan.state, change.type);
    return submitted(planId, change, time);
  }
  assertMayChange(plan, change.type);
  const next = { ...plan, state: stateAfter(change) ?? plan.state };
  switch (change.type) {
    case "previewed": {
      // Another preview was approved.
      const { approval: _approval, preview: _preview, ...rest } = next;
      const preview = change.preview === undefined ? {} : { preview: change.preview };
      return { ...rest, ...preview, steps: raised(plan.steps, change.steps) };
    }
    case "offered":
      return next;
    case "approved": {
      const { approval: _earlier, ...rest } = next;
      const approval = change.approval === undefined ? {} : { approval: change.approval };
      return { ...rest, ...approval, approvedBy: { who: change.by, channel: change.channel } };
    }
    case "approval-voided": {
      const { approval: _approval, ...rest } = next;
      return rest;
    }
    case "run-opened": {
      const { approval: _spent, ...rest } = next;
      return { ...rest, tokenSha256: change.tokenSha256, runTurnId: change.runTurnId };
    }
    case "step":
      return {
        ...next,
        steps: plan.steps.map((step) => (step.stepId === change.stepId ? stepAfter(step, change) : step)),
      };
    case "run-ended":
      return { ...next, claimed: change.claimed, executed: change.executed, remediation: change.remediation };
    case "verification-opened":
      return { ...next, verifyTurnId: change.turnId };
    case "verification-ended":
      return {
        ...next,
        results: change.results,
        // Never without output of at least one command that really ran and passed.
        verified: change.state === "done" && change.results.length > 0 && change.results.every(({ passed }) => passed),
        remediation: change.remediation,
      };
  }
}

/** Throws `IllegalPlanChange` when the plan's state does not allow the change. */
export function assertMayChange(
  plan: PlanRecord | undefined,
  change: Exclude<PlanChange["type"], "submitted">,
): asserts plan is PlanRecord {
  if (plan === undefined || !allowedIn[change].includes(plan.state)) throw new IllegalPlanChange(plan?.state, change);
}

function submitted(
  planId: string,
  change: Extract<PlanChange, { readonly type: "submitted" }>,
  created: number,
): PlanRecord {
  return {
    planId,
    digest: change.digest,
    title: change.title,
    created,
    state: "draft",
    modelId: change.modelId ?? "",
    steps: change.steps.map(({ stepId, risk }) => ({ stepId, risk, state: "pending", evidence: "" })),
    claimed: false,
    executed: false,
    verified: false,
    results: [],
    remediation: "",
  };
}

function raised(steps: readonly StepRecord[], risks: readonly StepRisk[]): readonly StepRecord[] {
  return steps.map((step) => {
    const now = risks.find(({ stepId }) => stepId === step.stepId)?.risk ?? "low";
    return { ...step, risk: highestRisk([step.risk, now]) };
  });
}

function stepAfter(step: StepRecord, change: Extract<PlanChange, { readonly type: "step" }>): StepRecord {
  const { state, failureClass, evidence } = change;
  return {
    stepId: step.stepId,
    risk: step.risk,
    state,
    evidence,
    ...(failureClass === undefined ? {} : { failureClass }),
  };
}
