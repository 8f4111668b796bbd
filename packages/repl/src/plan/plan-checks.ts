import { envelopeProblem, type PlanTokens, runProblem, stateProblem, tokenProblem } from "@gennai/client/plan-guard";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";

export type PlanAct = "preview" | "approve" | "execute" | "verify" | "rollback";

export type PlanCheck = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

export interface PlanFacts extends PlanTokens {
  readonly plan: Plan | undefined;
  /** The actions that were shown; undefined: none yet. */
  readonly shown:
    | { readonly planId: string; readonly digest: string; readonly actions: readonly PlannedAction[] }
    | undefined;
  /** What the run changed; undefined: nothing, or it was taken back. */
  readonly changeSetId: string | undefined;
  readonly busy: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What this client may ask the server for: envelope, state, digest and token must be right here first. */
export function planChecks(facts: PlanFacts): Readonly<Record<PlanAct, PlanCheck>> {
  const { plan: held, busy, approval, changeSetId, now } = facts;
  const check = (problem: (plan: Plan) => string | undefined): PlanCheck => {
    const reason = held === undefined ? "There is no plan." : busy ? "Something is still running." : problem(held);
    return reason === undefined ? { allowed: true } : { allowed: false, reason };
  };
  const unseen = (plan: Plan) => stateProblem(plan, ["awaiting_approval"]) ?? shownProblem(plan, facts.shown);
  return {
    preview: check((plan) => envelopeProblem(plan) ?? stateProblem(plan, ["draft", "preview", "awaiting_approval"])),
    approve: check(
      (plan) =>
        envelopeProblem(plan) ??
        unseen(plan) ??
        (tokenProblem(approval, plan, now) === undefined ? "It is approved." : undefined),
    ),
    execute: check((plan) => unseen(plan) ?? runProblem("execute", plan, facts)),
    verify: check((plan) => runProblem("verify", plan, facts)),
    rollback: check(
      (plan) =>
        stateProblem(plan, ["verifying", "done", "failed", "partial", "interrupted", "unverified"]) ??
        (changeSetId === undefined ? "The run changed no file that could be undone." : undefined),
    ),
  };
}

function shownProblem({ planId, digest }: Plan, shown: PlanFacts["shown"]): string | undefined {
  if (shown?.planId !== planId || shown.digest !== digest) return "Preview the plan first.";
  const denied = shown.actions.find(({ verdict }) => verdict === "deny");
  return denied && `The rules deny an action of step ${denied.stepId}.`;
}
