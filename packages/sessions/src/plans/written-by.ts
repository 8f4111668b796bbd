import { validateRinaOutput } from "@gennai/protocol/validate-rina-output";
import type { Session } from "../session/session.ts";

/**
 * The session's model whose last answer is the plan with this digest; undefined if the plan was written or edited by someone
 * else.
 */
export function writtenBy(
  { state: { lastAnswer } }: { readonly state: Pick<Session["state"], "lastAnswer"> },
  digest: string,
  options: { readonly strict: boolean; readonly contract: boolean },
): { readonly modelId?: string } {
  if (lastAnswer === undefined) return {};
  const answered = validateRinaOutput(lastAnswer.text, options);
  return answered.kind === "plan" && answered.plan.digest === digest ? { modelId: lastAnswer.modelId } : {};
}
