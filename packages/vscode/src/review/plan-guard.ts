import { sha256Hex } from "@gennai/protocol/digest";
import type { Plan } from "@gennai/protocol/model/governance/plan";

/** A person's approval as the server returned it. */
export interface StoredApproval {
  readonly planId: string;
  readonly digest: string;
  readonly token: string;
  readonly expires: Date | undefined;
  /** True after it opened a run: then it can only verify that run. */
  readonly spent: boolean;
}

export interface PlanGuardFacts {
  /** The plan as it is on the server now. */
  readonly plan: Plan;
  readonly approval: StoredApproval | undefined;
  readonly now: Date;
}

export type PlanGuardResult =
  | { readonly type: "send"; readonly approval: StoredApproval }
  | { readonly type: "refuse"; readonly reason: string };

const executable: readonly Plan["state"][] = ["awaiting_approval"];
const verifiable: readonly Plan["state"][] = ["verifying"];

/**
 * Decides whether this window sends Execute or Verify at all. The server checks again; this protects even if the server is wrong,
 * and says what is missing before anything is sent.
 */
export function guardPlan(action: "execute" | "verify", { plan, approval, now }: PlanGuardFacts): PlanGuardResult {
  if (!isEnvelope(plan.planJson)) return refuse("The plan's text is not a plan: preview it again.");
  if (sha256Hex(plan.planJson) !== plan.digest) {
    return refuse("The plan's digest does not belong to its text. Nothing was sent; preview the plan again.");
  }
  const states = action === "execute" ? executable : verifiable;
  if (!states.includes(plan.state)) return refuse(wrongState(action, plan.state));
  if (approval === undefined || approval.planId !== plan.planId) return refuse("Approve this plan first.");
  if (approval.digest !== plan.digest)
    return refuse("The plan is not the one you approved: look at it and approve it again.");
  if (!/^[A-Za-z0-9_-]{43,}$/.test(approval.token))
    return refuse("The approval has no valid token: approve the plan again.");
  if (action === "execute" && approval.spent) return refuse("This approval was used already: approve the plan again.");
  if (action === "verify" && !approval.spent) return refuse("This approval opened no run yet: execute the plan first.");
  if (action === "execute" && approval.expires !== undefined && approval.expires <= now) {
    return refuse("The approval has expired: approve the plan again.");
  }
  return { type: "send", approval };
}

function isEnvelope(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && "steps" in value && Array.isArray(value.steps);
  } catch {
    return false;
  }
}

function wrongState(action: "execute" | "verify", state: Plan["state"]): string {
  const words = state.replaceAll("_", " ");
  return action === "execute"
    ? `A plan that is ${words} cannot be executed. Preview and approve it first.`
    : `A plan that is ${words} cannot be verified. Execute it first.`;
}

function refuse(reason: string): PlanGuardResult {
  return { type: "refuse", reason };
}
