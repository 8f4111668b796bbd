import { ServiceError } from "@gennai/machine/service-error";
import { digestOf } from "@gennai/protocol/digest";
import type { JsonValue } from "@gennai/protocol/strict-json";
import { isToken } from "@gennai/sessions/plans/approval-tokens";
import type { PlanView } from "@gennai/sessions/plans/plan-view";
import type { SessionPlans } from "@gennai/sessions/plans/session-plans";
import type { Session } from "@gennai/sessions/session/session";
import { strippedPlan } from "./client-form.ts";

/** The plan of a stripped form, with the preview it was sent with. */
interface Alias {
  /** Digest of the stripped form. */
  readonly stripped: string;
  readonly sessionId: string;
  readonly planId: string;
  /** Digest of the whole plan. */
  readonly digest: string;
  shownSha256: string;
  head: string;
  /** SHA-256 of the newest token issued for it. */
  tokenSha256?: string;
}

/** A plan that the server holds, whole. */
export type KnownPlan = Pick<PlanView, "planId" | "digest">;

const maxAliases = 500;

/**
 * Maps stripped plans of a client that keeps only parts of them to the whole plans. An alias is created when a plan is sent,
 * and only names it: the whole plan on the server is what is checked and run. Aliases belong to this process; without one, a
 * stripped plan is unknown.
 */
export class PlanAliases {
  readonly #aliases: Alias[] = [];

  /** Remembers a plan that was previewed, in the form in which it was given to the client. */
  offer(session: Session, plan: KnownPlan, given: JsonValue): void {
    const preview = session.state.plans.get(plan.planId)?.preview;
    if (preview === undefined) return;
    const { shownSha256, head } = preview;
    const { planId, digest } = plan;
    if (this.#aliases.length >= maxAliases) this.#aliases.shift();
    this.#aliases.push({
      stripped: digestOf(strippedPlan(given)),
      sessionId: session.id,
      planId,
      digest,
      shownSha256,
      head,
    });
  }

  /**
   * The plan of a stripped form, for approval. Throws `ServiceError` if there is none, if different plans look the same in this
   * form, or if its preview is not the one it was sent with.
   */
  toApprove(session: Session, stripped: JsonValue): KnownPlan {
    const waiting = this.#of(session, stripped).filter(({ planId }) => {
      const state = session.state.plans.get(planId)?.state;
      return state === "preview" || state === "awaiting_approval";
    });
    const newest = waiting.at(-1);
    if (newest === undefined) throw unknown();
    if (waiting.some(({ digest }) => digest !== newest.digest)) {
      throw new ServiceError("failed_precondition", "Two different plans look the same to this client.", {
        hint: "Ask for the plan again with clearer titles, or approve it by its digest: gennai plan approve.",
      });
    }
    const preview = session.state.plans.get(newest.planId)?.preview;
    if (preview?.shownSha256 !== newest.shownSha256 || preview.head !== newest.head) {
      throw new ServiceError("failed_precondition", "The plan was previewed anew since this client got it.", {
        hint: "Ask for the plan again.",
      });
    }
    return newest;
  }

  /** The plan was previewed again for this client, on its new branch; the client's form now refers to that preview. */
  previewedAgain(session: Session, { planId }: KnownPlan): void {
    const preview = session.state.plans.get(planId)?.preview;
    if (preview === undefined) return;
    for (const alias of this.#aliases) {
      if (alias.sessionId !== session.id || alias.planId !== planId) continue;
      alias.shownSha256 = preview.shownSha256;
      alias.head = preview.head;
    }
  }

  /** Binds the token to the alias: it is good for the plan that was approved by it, and for no other that looks the same. */
  approved(session: Session, { planId }: KnownPlan, tokenSha256: string): void {
    for (const alias of this.#aliases) {
      if (alias.sessionId === session.id && alias.planId === planId) alias.tokenSha256 = tokenSha256;
    }
  }

  /** The plan that this token was given for, when the form is that plan's. Throws `ServiceError`. */
  approvedWith(session: Session, stripped: JsonValue, token: string): KnownPlan {
    const found = this.#of(session, stripped).findLast(({ tokenSha256 }) => isToken(token, tokenSha256));
    if (found === undefined) throw unknown();
    return found;
  }

  #of(session: Session, stripped: JsonValue): readonly Alias[] {
    const digest = digestOf(stripped);
    return this.#aliases.filter((alias) => alias.sessionId === session.id && alias.stripped === digest);
  }
}

/** Previews a plan that was just made, so that it can be handed out, and remembers its alias. */
export async function handOut(
  aliases: PlanAliases,
  { plans, session }: { readonly plans: SessionPlans; readonly session: Session },
  plan: KnownPlan,
  given: JsonValue,
): Promise<void> {
  await plans.preview(session, plan.planId);
  aliases.offer(session, plan, given);
}

function unknown(): ServiceError {
  return new ServiceError("permission_denied", "This server gave out no such plan, or not with this token.", {
    hint: "Ask for the plan again, then approve it.",
  });
}
