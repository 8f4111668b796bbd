import { sha256Hex } from "@gennai/protocol/digest";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { validateRinaOutput } from "@gennai/protocol/validate-rina-output";

export type PlanAct = "preview" | "approve" | "execute" | "verify" | "rollback";

export type PlanCheck = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** A token, and the plan that it is for. */
export interface PlanToken {
  readonly planId: string;
  readonly digest: string;
  readonly token: string;
  /** undefined: the server did not say. */
  readonly expires: Date | undefined;
}

export interface PlanFacts {
  readonly plan: Plan | undefined;
  /** The actions that were shown; undefined: none yet. */
  readonly shown:
    | { readonly planId: string; readonly digest: string; readonly actions: readonly PlannedAction[] }
    | undefined;
  /** An approval that was not spent yet. */
  readonly approval: PlanToken | undefined;
  /** The token that opened the run. */
  readonly run: PlanToken | undefined;
  /** What the run changed; undefined: nothing, or it was taken back. */
  readonly changeSetId: string | undefined;
  readonly busy: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const allowed: PlanCheck = { allowed: true };
const token = /^[A-Za-z0-9_-]{43}$/;

/** What this client may ask the server for: envelope, state, digest and token must be right here first. */
export function planChecks(facts: PlanFacts): Readonly<Record<PlanAct, PlanCheck>> {
  return {
    preview: firstOf(common(facts), inState(facts, ["draft", "preview", "awaiting_approval"])),
    approve: firstOf(common(facts), inState(facts, ["awaiting_approval"]), wasShown(facts), notApproved(facts)),
    execute: firstOf(
      common(facts),
      inState(facts, ["awaiting_approval"]),
      wasShown(facts),
      holds(facts, facts.approval, "Approve the plan first."),
    ),
    verify: firstOf(
      common(facts),
      inState(facts, ["verifying"]),
      holds(facts, facts.run, "The run was not opened here: verify where it was."),
    ),
    rollback: firstOf(
      facts.plan === undefined ? refused("There is no plan.") : undefined,
      facts.busy ? refused("Something is still running.") : undefined,
      inState(facts, ["verifying", "done", "failed", "partial", "interrupted", "unverified"]),
      facts.changeSetId === undefined ? refused("The run changed no file that could be undone.") : undefined,
    ),
  };
}

/** What is wrong with a plan's text; undefined: it is a valid plan, and the digest is its own. */
export function envelopeProblem(plan: Pick<Plan, "planJson" | "digest">): string | undefined {
  const output = validateRinaOutput(plan.planJson, { strict: true });
  if (output.kind !== "plan") return "What the server holds is not a valid plan.";
  if (output.plan.digest !== plan.digest || sha256Hex(plan.planJson) !== plan.digest) {
    return "The digest is not that of the plan shown here.";
  }
  return undefined;
}

type Refusal = (PlanCheck & { readonly allowed: false }) | undefined;

function common({ plan, busy }: PlanFacts): Refusal {
  if (plan === undefined) return refused("There is no plan.");
  if (busy) return refused("Something is still running.");
  const problem = envelopeProblem(plan);
  return problem === undefined ? undefined : refused(problem);
}

function inState({ plan }: PlanFacts, states: readonly Plan["state"][]): Refusal {
  if (plan !== undefined && states.includes(plan.state)) return undefined;
  return refused(`This cannot be done while the plan is ${plan?.state.replaceAll("_", " ") ?? "unknown"}.`);
}

function wasShown({ plan, shown }: PlanFacts): Refusal {
  if (shown?.planId !== plan?.planId || shown?.digest !== plan?.digest) return refused("Preview the plan first.");
  const denied = shown?.actions.find(({ verdict }) => verdict === "deny");
  return denied === undefined ? undefined : refused(`The rules deny an action of step ${denied.stepId}.`);
}

function notApproved(facts: PlanFacts): Refusal {
  return holds(facts, facts.approval, "") === undefined ? refused("It is approved.") : undefined;
}

function holds({ plan, now }: PlanFacts, held: PlanToken | undefined, missing: string): Refusal {
  if (held === undefined || held.planId !== plan?.planId) return refused(missing);
  if (held.digest !== plan.digest) return refused("The approval is for another digest.");
  if (!token.test(held.token)) return refused("The approval's token is damaged.");
  // A token that opened a run is bound to that run, and does not expire.
  if (held.expires !== undefined && held.expires.getTime() <= now) return refused("The approval has expired.");
  return undefined;
}

function refused(reason: string): PlanCheck & { readonly allowed: false } {
  return { allowed: false, reason };
}

function firstOf(...refusals: readonly Refusal[]): PlanCheck {
  return refusals.find((refusal) => refusal !== undefined) ?? allowed;
}
