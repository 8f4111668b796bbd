import type { PlanView } from "@gennai/governance/plan";
import { ServiceError } from "@gennai/machine/service-error";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { prepareSessionBranch } from "@gennai/sessions/manager/prepare-session-branch";
import type { SessionPlans } from "@gennai/sessions/plans/session-plans";
import type { Session } from "@gennai/sessions/session/session";
import type { KnownPlan } from "./plan-aliases.ts";

export interface PreviewOnBranch {
  readonly session: Session;
  readonly plans: SessionPlans;
  readonly held: KnownPlan;
  /** Throws when the plan would do something else than what its client was given. */
  readonly assertSame: () => void;
}

/**
 * Previews a plan so that it can be approved, and resolves with the branch that the workspace was switched to; undefined if it
 * stays. A client of this port cannot choose a branch: if only branch protection is against the plan, the work moves to a new
 * branch at the same commit. Throws `ServiceError` with the first refusal.
 */
export async function previewOnBranch({
  session,
  plans,
  held,
  assertSame,
}: PreviewOnBranch): Promise<string | undefined> {
  const { plan, actions } = await plans.preview(session, held.planId);
  assertSame();
  if (plan.state === "awaiting_approval") return undefined;
  if (!isForBranch(actions)) throw refusal(plan, actions);
  const { signal } = new AbortController();
  const { name } = await session.acts.during("a change of the branch", () =>
    prepareSessionBranch(session, { task: plan.title }, signal),
  );
  const text = `The work moved to the branch ${name}: the branch before is protected, and a plan was approved.`;
  session.writer.emit({ type: "warning", text }, { turnId: "" });
  const again = await plans.preview(session, held.planId);
  if (again.plan.state !== "awaiting_approval") throw refusal(again.plan, again.actions);
  return name;
}

const protectedBranch = "branch/protected-branch";

function isForBranch(actions: readonly PlannedAction[]): boolean {
  const denied = actions.filter(({ verdict }) => verdict === "deny");
  return denied.length > 0 && denied.every(({ rule }) => rule === protectedBranch);
}

function refusal({ remediation }: PlanView, actions: readonly PlannedAction[]): ServiceError {
  const denied = actions.find(({ verdict }) => verdict === "deny");
  const why =
    denied === undefined
      ? remediation || "The plan cannot be approved as it is."
      : `Step ${denied.stepId}, action ${denied.actionIndex + 1} is refused: ${denied.reason}`;
  return new ServiceError("permission_denied", why, { hint: "Ask for another plan without it." });
}
