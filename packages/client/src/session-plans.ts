import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { RefusedPlanSchema } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { type Plan, type PlanIssue, planFromMessage } from "@gennai/protocol/model/governance/plan";
import {
  type VerificationResult,
  verificationResultFromMessage,
} from "@gennai/protocol/model/governance/verification-result";
import { type PlannedAction, plannedActionFromMessage } from "@gennai/protocol/model/session/planned-action";
import type { CallOptions, PlanClient } from "./connection/connection.ts";

/** The result of handing in a text. */
export interface SubmittedPlan {
  readonly plan: Plan | undefined;
  readonly issues: readonly PlanIssue[];
  /** `plan`, `chat` or `error`; empty when there was no envelope. */
  readonly envelopeKind: string;
}

export interface PlanApproval {
  readonly approvalToken: string;
  readonly expires: Date | undefined;
}

/** A session's plans. All methods reject with `ConnectError`. */
export class SessionPlans {
  readonly #client: PlanClient;
  readonly sessionId: string;

  constructor(client: PlanClient, sessionId: string) {
    this.#client = client;
    this.sessionId = sessionId;
  }

  /** A text that the server refuses as a plan comes back with its issues. */
  async submit(text: string, options: CallOptions): Promise<SubmittedPlan> {
    try {
      const { plan, envelopeKind } = await this.#client.submitPlan({ sessionId: this.sessionId, text }, options);
      return { plan: plan === undefined ? undefined : planFromMessage(plan), issues: [], envelopeKind };
    } catch (error) {
      const refused = ConnectError.from(error).findDetails(RefusedPlanSchema)[0];
      if (refused === undefined) throw error;
      const issues = refused.issues.map(({ path, message, level }) => ({ path, message, level }));
      return { plan: undefined, issues, envelopeKind: refused.envelopeKind };
    }
  }

  async preview(
    planId: string,
    options: CallOptions,
  ): Promise<{ readonly plan: Plan; readonly actions: readonly PlannedAction[] }> {
    const { plan, actions } = await this.#client.previewPlan({ sessionId: this.sessionId, planId }, options);
    return { plan: planFromMessage(plan), actions: actions.map(plannedActionFromMessage) };
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
    return { plan: planFromMessage(plan), results: results.map(verificationResultFromMessage) };
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

/** The text of a chat or error envelope; anything else as it is. */
export function envelopeWords(raw: string): string {
  const found = /"(?:text|message)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(raw)?.[1];
  const words: unknown = found === undefined ? raw : JSON.parse(found);
  return typeof words === "string" ? words : raw;
}
