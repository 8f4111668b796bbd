import { validateRinaOutput } from "@gennai/protocol/plan/validate-rina-output";
import type { Session } from "../session/session.ts";

/** The model of the session whose last answer is the plan of this digest; none for a plan that somebody else wrote or edited. */
export function writtenBy(
  { state: { lastAnswer } }: { readonly state: Pick<Session["state"], "lastAnswer"> },
  digest: string,
  options: { readonly strict: boolean; readonly contract: boolean },
): { readonly modelId?: string } {
  if (lastAnswer === undefined) return {};
  const answered = validateRinaOutput(lastAnswer.text, options);
  return answered.kind === "plan" && answered.plan.digest === digest ? { modelId: lastAnswer.modelId } : {};
}
