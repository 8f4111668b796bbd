import { sha256Hex } from "@gennai/protocol/digest";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { validateRinaOutput } from "@gennai/protocol/validate-rina-output";

/** A token, and the plan that it is for. */
export interface PlanToken {
  readonly planId: string;
  readonly digest: string;
  readonly token: string;
  /** undefined: the server did not say, or it opened a run, to which it is bound without an end. */
  readonly expires: Date | undefined;
}

/** The newest tokens of a plan. They are only in memory, and only where the plan was approved. */
export interface PlanTokens {
  /** An approval that was not spent yet. */
  readonly approval: PlanToken | undefined;
  /** The token that opened the run. */
  readonly run: PlanToken | undefined;
}

/** The tokens after the approval was sent: the try spends it, whatever its result. */
export function spent({ approval }: PlanTokens): PlanTokens {
  return { approval: undefined, run: approval && { ...approval, expires: undefined } };
}

/**
 * Why this client does not ask the server to execute or verify a plan; undefined: it does. The server checks again; this protects
 * even if the server is wrong, and says what is missing before anything is sent.
 * @param now milliseconds since the epoch
 */
export function runProblem(
  act: "execute" | "verify",
  plan: Plan,
  { approval, run, now }: PlanTokens & { readonly now: number },
): string | undefined {
  const isExecute = act === "execute";
  return (
    envelopeProblem(plan) ??
    stateProblem(plan, [isExecute ? "awaiting_approval" : "verifying"]) ??
    (isExecute
      ? tokenProblem(approval, plan, now)
      : tokenProblem(run, plan, now, "The run was not opened here: verify where it was."))
  );
}

/** What is wrong with a plan's text; undefined: it is a valid plan, and the digest is its own. */
export function envelopeProblem(plan: Pick<Plan, "planJson" | "digest">): string | undefined {
  const output = validateRinaOutput(plan.planJson, { strict: true });
  if (output.kind !== "plan") return "What the server holds is not a valid plan.";
  if (output.plan.digest === plan.digest && sha256Hex(plan.planJson) === plan.digest) return undefined;
  return "The digest is not that of the plan shown here.";
}

export function stateProblem({ state }: Plan, states: readonly Plan["state"][]): string | undefined {
  return states.includes(state) ? undefined : `This cannot be done while the plan is ${state.replaceAll("_", " ")}.`;
}

/** @param now milliseconds since the epoch */
export function tokenProblem(
  held: PlanToken | undefined,
  plan: Plan,
  now: number,
  missing = "Approve the plan first.",
): string | undefined {
  if (held === undefined || held.planId !== plan.planId) return missing;
  if (held.digest !== plan.digest) return "The approval is for another digest.";
  if (!/^[A-Za-z0-9_-]{43}$/.test(held.token)) return "The approval's token is damaged.";
  if (held.expires !== undefined && held.expires.getTime() <= now) return "The approval has expired.";
  return undefined;
}
