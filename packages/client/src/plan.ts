import { PlanState as StateMessage } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { Plan as PlanMessage, PlanStep as StepMessage } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import {
  type PlanState,
  type PlanStepContract,
  planStateWords,
  type StepState,
  stepStateWords,
} from "@gennai/protocol/model/governance/plan-state";
import { riskFromMessage } from "@gennai/protocol/model/governance/risk";
import { failureClassWords } from "@gennai/protocol/model/governance/tool-outcome";

/** A plan that the server holds. */
export interface Plan {
  readonly planId: string;
  /** `unknown`: a state that this client does not know. */
  readonly state: PlanState | "unknown";
  /** SHA-256 of `planJson`, lower-case hex: what an approval is for. */
  readonly digest: string;
  readonly planJson: string;
  readonly title: string;
  readonly summary: string;
  readonly steps: readonly PlanStep[];
  readonly claimed: boolean;
  readonly executed: boolean;
  readonly verified: boolean;
  /** What can be done after a failed run. */
  readonly remediation: string;
}

export interface PlanStep extends PlanStepContract {
  readonly state: StepState;
  /** E.g. `command_error`; empty where nothing failed. */
  readonly failureClass: string;
  readonly evidence: string;
}

export interface PlanIssue {
  readonly path: string;
  readonly message: string;
  readonly level: string;
}

/** The result of handing in a text. */
export interface SubmittedPlan {
  readonly plan: Plan | undefined;
  readonly issues: readonly PlanIssue[];
  /** `plan`, `chat` or `error`; empty when there was no envelope. */
  readonly envelopeKind: string;
}

/** The text of a chat or error envelope; anything else as it is. */
export function envelopeWords(raw: string): string {
  const found = /"(?:text|message)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(raw)?.[1];
  const words: unknown = found === undefined ? raw : JSON.parse(found);
  return typeof words === "string" ? words : raw;
}

export interface PlanApproval {
  readonly approvalToken: string;
  readonly expires: Date | undefined;
}

export function planFromMessage(message: PlanMessage | undefined): Plan {
  return {
    planId: message?.planId ?? "",
    state: planStateWords.fromMessage(message?.state ?? StateMessage.UNSPECIFIED) ?? "unknown",
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
