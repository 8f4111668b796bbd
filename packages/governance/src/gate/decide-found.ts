import { computeRisk } from "../policies/risk.ts";
import type { Analysis, CallContext, Found } from "../tool.ts";
import { type Decided, type DecideOptions, policyInput } from "./decide/decided-call.ts";
import { redactedRun } from "./decide/redacted-reason.ts";
import { runPolicies } from "./decide/run-policies.ts";

/**
 * The rules' verdict on changes of a call that are not visible yet. Users' own hook programs already judged the call itself,
 * and are not asked again.
 */
export function decideFound(
  { statement, parts, operands }: Pick<Found, "statement" | "parts" | "operands">,
  decided: Decided,
  context: CallContext,
  options: Omit<DecideOptions, "tools">,
): Promise<Decided> {
  const effects = parts.flatMap((part) => part.effects);
  return decideEffects({ statement, effects, operands, done: true }, decided, context, options);
}

/** The same for other effects that a call turned out to need. */
export async function decideEffects(
  needed: Pick<Analysis, "statement" | "effects" | "operands" | "done">,
  decided: Decided,
  context: CallContext,
  options: Omit<DecideOptions, "tools">,
): Promise<Decided> {
  const { policies, redactor, policyTimeoutMs: timeoutMs } = options;
  const analysis: Analysis = { ...decided.analysis, ...needed };
  const input = policyInput({ ...decided, analysis }, context, options);
  const own = policies.filter(({ stage }) => stage === undefined);
  const run = await runPolicies(own, input, { timeoutMs, signal: context.signal });
  return { ...decided, analysis, ...(await redactedRun(run, redactor)), risk: computeRisk(analysis) };
}
