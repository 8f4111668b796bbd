import { citeIntentMessage } from "@gennai/governance/intents/intents-policy";
import type { PlanRecord } from "@gennai/governance/plan-record";
import { stepContracts } from "@gennai/governance/step-contract";
import type { Plan, PlanState, PlanStep } from "@gennai/protocol/model/governance/plan";
import type { ValidatedPlan } from "@gennai/protocol/validate-rina-output";

/** What the server knows of a plan. */
export interface PlanView extends Plan, Pick<PlanRecord, "created" | "results" | "runTurnId"> {
  readonly state: PlanState;
}

/** @param stored undefined when its bytes were purged: then only what the log knows is shown */
export function planView(record: PlanRecord, stored: ValidatedPlan | undefined): PlanView {
  const { planId, state, digest, created, claimed, executed, verified, results, runTurnId } = record;
  return {
    planId,
    state,
    digest,
    created,
    claimed,
    executed,
    verified,
    results,
    remediation: record.remediation || whyNotOffered(record),
    planJson: stored?.planJson ?? "",
    title: stored?.parsed.plan.title ?? record.title,
    summary: stored?.parsed.plan.summary ?? "",
    steps: stored === undefined ? record.steps.map(bareStep) : steps(record, stored),
    ...(runTurnId === undefined ? {} : { runTurnId }),
  };
}

/** The denied item may be a verification command, which the preview's actions do not show. */
function whyNotOffered({ state, preview }: PlanRecord): string {
  if (state !== "preview" || preview?.denied === undefined) return "";
  return `It cannot be approved: ${preview.denied} ${insteadOf(preview.denied)}`;
}

/** What to do about a denial. If only an intent is missing, the action itself is not refused. */
export function insteadOf(denied: string): string {
  return denied.includes(citeIntentMessage)
    ? "Select an intent for the session of the plan, then preview it again."
    : "Submit a plan without it.";
}

function steps(record: PlanRecord, { parsed }: ValidatedPlan): readonly PlanStep[] {
  const known = new Map(record.steps.map((step) => [step.stepId, step]));
  const contracts = stepContracts(parsed, new Map(record.steps.map(({ stepId, risk }) => [stepId, risk])));
  return contracts.map(({ actions: _actions, ...contract }) => {
    const step = known.get(contract.id);
    return {
      ...contract,
      state: step?.state ?? "pending",
      evidence: step?.evidence ?? "",
      failureClass: step?.failureClass ?? "",
    };
  });
}

function bareStep(step: PlanRecord["steps"][number]): PlanStep {
  const { stepId, risk, state, failureClass = "", evidence } = step;
  return {
    id: stepId,
    risk,
    state,
    failureClass,
    evidence,
    title: "",
    intent: "",
    description: "",
    tool: "",
    verificationPlan: [],
    dependsOn: [],
    requiresConfirmation: risk !== "low",
  };
}
