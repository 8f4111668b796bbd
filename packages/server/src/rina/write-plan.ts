import { correctionRequestText } from "@gennai/agent/scenarios/plan-correction";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import type { JsonValue } from "@gennai/protocol/plan/strict-json";
import type { PlanAuthority, SubmittedPlan } from "@gennai/sessions/plans/approval/plan-authority";
import type { Session } from "@gennai/sessions/session/session";
import { planTurn } from "./plan-turn.ts";

export interface PlanWish {
  readonly plans: PlanAuthority;
  readonly session: Session;
  readonly text: string;
  /** Asks the model once more when what it gave is no valid envelope. */
  readonly strict: boolean;
  /** What the client knows about where its user is. */
  readonly context: JsonValue | undefined;
}

/** A real turn of the model in plan mode; a valid plan is held as a draft from then on. `raw` is what the model wrote. */
export async function writePlan(
  { plans, session, text, strict, context }: PlanWish,
  options: { readonly signal: AbortSignal },
): Promise<{ readonly raw: string; readonly submitted: SubmittedPlan }> {
  const raw = await planTurn(session, { text, editor: contextText(context) }, options);
  const submitted = await plans.submit(session, raw, { strict: false, contract: false });
  if (submitted.issues.length === 0 || !strict) return { raw, submitted };
  const again = await planTurn(session, { text: correctionRequestText(submitted.issues), editor: "" }, options);
  return { raw: again, submitted: await plans.submit(session, again, { strict: false, contract: false }) };
}

function contextText(context: JsonValue | undefined): string {
  if (context === undefined || context === null) return "";
  return typeof context === "string" ? context : canonicalJson(context);
}
