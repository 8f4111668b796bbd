import { isMessage } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import {
  ApprovePlanRequestSchema,
  ApprovePlanResponseSchema,
  ExecutePlanRequestSchema,
  VerifyPlanRequestSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { guardPlan, type StoredApproval } from "../../review/plan-guard.ts";

/** Approvals of this window, only in memory: a token is never written to a file. */
export class StoredApprovals {
  readonly #held = new Map<string, StoredApproval>();

  /** The newest approval of a plan. */
  of(planId: string): StoredApproval | undefined {
    return this.#held.get(planId);
  }

  hold(approval: StoredApproval): void {
    this.#held.set(approval.planId, approval);
  }

  spend(approval: StoredApproval): void {
    this.#held.set(approval.planId, { ...approval, spent: true });
  }
}

/**
 * Lets Execute and Verify through only for a plan that was approved in this window, and only as it was approved, whether a
 * command or the REPL sends them. Otherwise they fail with the reason.
 * @param readPlan loads the plan as the server has it now
 */
export function planInterceptor(
  approvals: StoredApprovals,
  readPlan: (sessionId: string, planId: string, options: { readonly signal: AbortSignal }) => Promise<Plan>,
): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const { message, signal } = request;
    const isExecute = isMessage(message, ExecutePlanRequestSchema);
    if (isExecute || isMessage(message, VerifyPlanRequestSchema)) {
      const plan = await readPlan(message.sessionId, message.planId, { signal });
      const approval = approvals.of(message.planId);
      const result = guardPlan(isExecute ? "execute" : "verify", { plan, approval, now: new Date() });
      if (result.type === "refuse") throw refused(result.reason);
      if (message.digest !== result.approval.digest || message.approvalToken !== result.approval.token) {
        throw refused("This is not the approval that was given for this plan: approve it again.");
      }
      if (isExecute) approvals.spend(result.approval);
    }
    const response = await next(request);
    if (isMessage(message, ApprovePlanRequestSchema) && !response.stream) {
      const { message: answer } = response;
      if (isMessage(answer, ApprovePlanResponseSchema)) {
        const { planId, digest } = message;
        const expires = answer.expires === undefined ? undefined : timestampDate(answer.expires);
        approvals.hold({ planId, digest, token: answer.approvalToken, expires, spent: false });
      }
    }
    return response;
  };
}

function refused(reason: string): ConnectError {
  return new ConnectError(`${reason} Nothing was sent.`, Code.FailedPrecondition);
}
