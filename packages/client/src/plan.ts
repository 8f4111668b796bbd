import { timestampDate } from "@bufbuild/protobuf/wkt";
import { PlanState as StateMessage } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type {
  ActionPreview as ActionMessage,
  Plan as PlanMessage,
  VerificationResult as ResultMessage,
  PlanStep as StepMessage,
} from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import type { PlanClient } from "./connection.ts";
import type { Risk } from "./editor.ts";
import { riskWord, verdictWord } from "./governance-words.ts";
import { failureWord, planStateWord, stepStateWord } from "./plan-words.ts";
import { type ProposedChange, proposedChangeFromMessage } from "./proposal.ts";

export type PlanState =
  | "draft"
  | "preview"
  | "awaiting_approval"
  | "executing"
  | "verifying"
  | "done"
  | "failed"
  | "partial"
  | "interrupted"
  | "unverified"
  /** One that this client does not know. */
  | "unknown";

export type StepState = "pending" | "running" | "executed" | "failed" | "skipped";

/** A plan that the server holds. */
export interface Plan {
  readonly planId: string;
  readonly state: PlanState;
  /** SHA-256 of `planJson`, lower-case hex: what an approval is for. */
  readonly digest: string;
  readonly planJson: string;
  readonly title: string;
  readonly summary: string;
  readonly steps: readonly PlanStep[];
  readonly claimed: boolean;
  readonly executed: boolean;
  readonly verified: boolean;
  /** What can be done after a run that did not end well. */
  readonly remediation: string;
}

export interface PlanStep {
  readonly id: string;
  readonly title: string;
  readonly intent: string;
  readonly description: string;
  readonly tool: string;
  readonly risk: Risk;
  readonly requiresConfirmation: boolean;
  readonly verificationPlan: readonly string[];
  readonly dependsOn: readonly string[];
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

/** What came of handing in a text. */
export interface SubmittedPlan {
  readonly plan: Plan | undefined;
  readonly issues: readonly PlanIssue[];
  /** `plan`, `chat` or `error`; empty when there was no envelope. */
  readonly envelopeKind: string;
}

/** What one action would do. */
export interface PlannedAction {
  readonly stepId: string;
  readonly actionIndex: number;
  /** For file actions. */
  readonly change: ProposedChange | undefined;
  /** For commands; empty otherwise. */
  readonly command: string;
  /** Directory the command runs in; empty: the workspace. */
  readonly cwd: string;
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  readonly rule: string;
  readonly reason: string;
}

export interface PlanApproval {
  readonly approvalToken: string;
  readonly expires: Date | undefined;
}

export interface VerificationResult {
  readonly stepId: string;
  readonly command: string;
  readonly passed: boolean;
  readonly exitCode: number | undefined;
  readonly output: string;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

/** A session's plans. All methods reject with `ConnectError`. */
export class SessionPlans {
  readonly #client: PlanClient;
  readonly sessionId: string;

  constructor(client: PlanClient, sessionId: string) {
    this.#client = client;
    this.sessionId = sessionId;
  }

  async submit(text: string, options: CallOptions): Promise<SubmittedPlan> {
    const { plan, issues, envelopeKind } = await this.#client.submitPlan({ sessionId: this.sessionId, text }, options);
    return {
      plan: plan === undefined ? undefined : planFromMessage(plan),
      issues: issues.map(({ path, message, level }) => ({ path, message, level })),
      envelopeKind,
    };
  }

  async preview(
    planId: string,
    options: CallOptions,
  ): Promise<{ readonly plan: Plan; readonly actions: readonly PlannedAction[] }> {
    const { plan, actions } = await this.#client.previewPlan({ sessionId: this.sessionId, planId }, options);
    return { plan: planFromMessage(plan), actions: actions.map(actionFromMessage) };
  }

  /** A person's word for exactly this digest. */
  async approve(planId: string, digest: string, options: CallOptions): Promise<PlanApproval> {
    const request = { sessionId: this.sessionId, planId, digest };
    const { approvalToken, expires } = await this.#client.approvePlan(request, options);
    return { approvalToken, expires: expires === undefined ? undefined : timestampDate(expires) };
  }

  /** Resolves when the run has ended, however it did. */
  async execute(planId: string, digest: string, approvalToken: string, options: CallOptions): Promise<Plan> {
    const request = { sessionId: this.sessionId, planId, digest, approvalToken };
    return planFromMessage((await this.#client.executePlan(request, options)).plan);
  }

  async verify(
    planId: string,
    digest: string,
    approvalToken: string,
    options: CallOptions,
  ): Promise<{ readonly plan: Plan; readonly results: readonly VerificationResult[] }> {
    const request = { sessionId: this.sessionId, planId, digest, approvalToken };
    const { plan, results } = await this.#client.verifyPlan(request, options);
    return { plan: planFromMessage(plan), results: results.map(resultFromMessage) };
  }

  async get(planId: string, options: CallOptions): Promise<Plan> {
    return planFromMessage((await this.#client.getPlan({ sessionId: this.sessionId, planId }, options)).plan);
  }

  /** Newest first. */
  async list(options: CallOptions): Promise<readonly Plan[]> {
    const { plans } = await this.#client.listPlans({ sessionId: this.sessionId }, options);
    return plans.map(planFromMessage);
  }
}

function planFromMessage(message: PlanMessage | undefined): Plan {
  return {
    planId: message?.planId ?? "",
    state: planStateWord(message?.state ?? StateMessage.UNSPECIFIED),
    digest: message?.digest ?? "",
    planJson: message?.planJson ?? "",
    title: message?.title ?? "",
    summary: message?.summary ?? "",
    steps: (message?.steps ?? []).map(stepFromMessage),
    // A success that was not stated is none.
    claimed: message?.claimed ?? false,
    executed: message?.executed ?? false,
    verified: message?.verified ?? false,
    remediation: message?.remediation ?? "",
  };
}

function stepFromMessage(message: StepMessage): PlanStep {
  const { id, title, intent, description, tool, requiresConfirmation, verificationPlan, dependsOn, evidence } = message;
  return {
    ...{ id, title, intent, description, tool, requiresConfirmation, verificationPlan, dependsOn, evidence },
    risk: riskWord(message.risk) ?? "high",
    state: stepStateWord(message.state),
    failureClass: failureWord(message.failureClass),
  };
}

function actionFromMessage({
  stepId,
  actionIndex,
  change,
  command,
  cwd,
  verdict,
  risk,
  rule,
  reason,
}: ActionMessage): PlannedAction {
  return {
    ...{ stepId, actionIndex, command, cwd, rule, reason },
    change: change === undefined ? undefined : proposedChangeFromMessage(change),
    verdict: verdictWord(verdict),
    risk: riskWord(risk) ?? "high",
  };
}

function resultFromMessage({ stepId, command, passed, exitCode, output }: ResultMessage): VerificationResult {
  return { stepId, command, passed, exitCode, output };
}
