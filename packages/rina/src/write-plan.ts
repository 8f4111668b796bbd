import { correctionRequestText } from "@gennai/agent/scenarios/plan-correction";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import type { JsonValue } from "@gennai/protocol/strict-json";
import type { PlanAuthority, SubmittedPlan } from "@gennai/sessions/plans/approval/plan-authority";
import type { Session } from "@gennai/sessions/session/session";
import { planTurn } from "./plan-turn.ts";

export interface PlanWish {
  readonly plans: PlanAuthority;
  readonly session: Session;
  readonly text: string;
  /** Asks the model again if its answer is no valid envelope. */
  readonly strict: boolean;
  /** What the client knows about the user's position in the editor. */
  readonly context: JsonValue | undefined;
}

/** A turn of the model in plan mode; a valid plan is then stored as a draft. `raw` is the model's text. */
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
