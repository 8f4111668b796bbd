import { isMessage } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { type PlanTokens, runProblem, spent } from "@gennai/client/plan-guard";
import {
  ApprovePlanRequestSchema,
  ApprovePlanResponseSchema,
  ExecutePlanRequestSchema,
  VerifyPlanRequestSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import type { Plan } from "@gennai/protocol/model/governance/plan";

/** Approvals of this window, only in memory: a token is never written to a file. */
export class StoredApprovals {
  readonly #held = new Map<string, PlanTokens>();

  /** The newest tokens of a plan. */
  of(planId: string): PlanTokens {
    return this.#held.get(planId) ?? { approval: undefined, run: undefined };
  }

  hold(planId: string, tokens: PlanTokens): void {
    this.#held.set(planId, tokens);
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
      const tokens = approvals.of(message.planId);
      const problem = runProblem(isExecute ? "execute" : "verify", plan, { ...tokens, now: Date.now() });
      if (problem !== undefined) throw refused(problem);
      const held = isExecute ? tokens.approval : tokens.run;
      if (message.digest !== held?.digest || message.approvalToken !== held.token) {
        throw refused("This is not the approval that was given for this plan: approve it again.");
      }
      if (isExecute) approvals.hold(message.planId, spent(tokens));
    }
    const response = await next(request);
    if (isMessage(message, ApprovePlanRequestSchema) && !response.stream) {
      const { message: answer } = response;
      if (isMessage(answer, ApprovePlanResponseSchema)) {
        const { planId, digest } = message;
        const expires = answer.expires === undefined ? undefined : timestampDate(answer.expires);
        const approval = { planId, digest, token: answer.approvalToken, expires };
        approvals.hold(planId, { approval, run: undefined });
      }
    }
    return response;
  };
}

function refused(reason: string): ConnectError {
  return new ConnectError(`${reason} Nothing was sent.`, Code.FailedPrecondition);
}
