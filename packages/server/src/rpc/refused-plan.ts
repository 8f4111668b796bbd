import { Code, ConnectError } from "@connectrpc/connect";
import { issueLines } from "@gennai/agent/scenarios/plan-correction";
import type { EnvelopeKind, PlanIssue } from "@gennai/governance/plan";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { RefusedPlanSchema } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

const hint = "Correct what is listed, and submit the plan again.";

/** `InvalidArgument` for a text that is not a plan: each issue in the message, and as a list in the detail `RefusedPlan`. */
export function refusedPlan(issues: readonly PlanIssue[], envelopeKind: EnvelopeKind): ConnectError {
  const message = `The plan is not valid. ${issueLines(issues).join(" ")}`;
  return new ConnectError(`${message} ${hint}`, Code.InvalidArgument, undefined, [
    { desc: ErrorInfoSchema, value: { code: "invalid_plan", message, hint, retryable: false } },
    {
      desc: RefusedPlanSchema,
      value: { envelopeKind, issues: issues.map(({ path, message: text, level }) => ({ path, message: text, level })) },
    },
  ]);
}
