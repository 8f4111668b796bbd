import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { PlanService, RefusedPlanSchema } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { type PlanIssue, planToMessage } from "@gennai/protocol/model/governance/plan";
import { plannedActionToMessage } from "@gennai/protocol/model/session/planned-action";
import { issueLines } from "@gennai/protocol/plan-correction";
import type { EnvelopeKind } from "@gennai/protocol/validate-rina-output";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { SessionPlans } from "@gennai/sessions/plans/session-plans";

export interface PlanServiceOptions {
  readonly manager: SessionManager;
  readonly plans: SessionPlans;
  /** Whether clients must send the server's credential. */
  readonly authenticated: boolean;
}

/** Every RPC of PlanService. */
export function registerPlanService(router: ConnectRouter, options: PlanServiceOptions): void {
  router.service(PlanService, planService(options));
}

function planService({ manager, plans, authenticated }: PlanServiceOptions): ServiceImpl<typeof PlanService> {
  return {
    async submitPlan({ sessionId, text }) {
      const session = await manager.get(sessionId);
      const { plan, issues, envelopeKind } = await plans.submit(session, text, { strict: false, contract: true });
      if (issues.length > 0) throw refusedPlan(issues, envelopeKind);
      return plan === undefined ? { envelopeKind } : { envelopeKind, plan: planToMessage(plan) };
    },

    async previewPlan({ sessionId, planId }) {
      const { plan, actions } = await plans.preview(await manager.get(sessionId), planId);
      return { plan: planToMessage(plan), actions: actions.map(plannedActionToMessage) };
    },

    async approvePlan({ sessionId, planId, digest }) {
      const who = manager.services.callers.current()?.user || "a client";
      const by = { who, channel: authenticated ? "authenticated" : "loopback" } as const;
      const { approvalToken, expiresAt } = await plans.approve(await manager.get(sessionId), planId, digest, by);
      return { approvalToken, expires: timestampFromMs(expiresAt) };
    },

    async executePlan({ sessionId, planId, digest, approvalToken }) {
      const session = await manager.get(sessionId);
      return { plan: planToMessage(await plans.execute(session, planId, digest, approvalToken, ownTurn())) };
    },

    async verifyPlan({ sessionId, planId, digest, approvalToken }) {
      const session = await manager.get(sessionId);
      const { plan, results } = await plans.verify(session, planId, digest, approvalToken, ownTurn());
      return { plan: planToMessage(plan), results: results.map((result) => ({ ...result })) };
    },

    async getPlan({ sessionId, planId }) {
      return { plan: planToMessage(await plans.get(await manager.get(sessionId), planId)) };
    },

    async listPlans({ sessionId }) {
      return { plans: (await plans.list(await manager.get(sessionId))).map(planToMessage) };
    },
  };
}

/** The session owns the run, not the connection: a disconnect does not leave half a plan. CancelTurn stops it. */
function ownTurn(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal };
}

const hint = "Correct what is listed, and submit the plan again.";

/** `InvalidArgument` for a text that is not a plan: each issue in the message, and as a list in the detail `RefusedPlan`. */
function refusedPlan(issues: readonly PlanIssue[], envelopeKind: EnvelopeKind): ConnectError {
  const message = `The plan is not valid. ${issueLines(issues).join(" ")}`;
  return new ConnectError(`${message} ${hint}`, Code.InvalidArgument, undefined, [
    { desc: ErrorInfoSchema, value: { code: "invalid_plan", message, hint, retryable: false } },
    {
      desc: RefusedPlanSchema,
      value: { envelopeKind, issues: issues.map(({ path, message: text, level }) => ({ path, message: text, level })) },
    },
  ]);
}
