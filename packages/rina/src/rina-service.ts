import { ServiceError } from "@gennai/machine/service-error";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { sha256Hex } from "@gennai/protocol/digest";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { correctionRequestText, issueLines } from "@gennai/protocol/plan-correction";
import type { JsonValue } from "@gennai/protocol/strict-json";
import { prepareSessionBranch } from "@gennai/sessions/manager/prepare-session-branch";
import type { PlanView } from "@gennai/sessions/plans/plan-view";
import type { SessionPlans, SubmittedPlan } from "@gennai/sessions/plans/session-plans";
import type { Session } from "@gennai/sessions/session/session";
import { isStripped, planForClient } from "./client-form.ts";
import { handOut, type KnownPlan, PlanAliases } from "./plan-aliases.ts";
import { planTurn } from "./plan-turn.ts";
import { type PlanBody, parseApprovedPlan, parsePlan, parseSend } from "./rina-bodies.ts";
import type { RinaAnswer, RinaHandler } from "./rina-listener.ts";

export interface RinaServiceOptions {
  readonly version: string;
  readonly plans: SessionPlans;
  /** The session all clients of this port share; made when the first of them needs it. */
  readonly session: () => Promise<Session>;
}

/** RinaWarp's five endpoints over the server's own plans. Received content never runs: it only identifies a stored plan. */
export function rinaHandlers(options: RinaServiceOptions): ReadonlyMap<string, RinaHandler> {
  const { plans, version } = options;
  const aliases = new PlanAliases();
  return new Map<string, RinaHandler>([
    ["/ping", () => Promise.resolve(ok({ version }))],
    [
      "/rina/send",
      async (body, { signal }) => {
        const { text, strict, context } = parseSend(body);
        const session = await idleSession(options);
        const { raw, submitted } = await writePlan({ plans, session, text, strict, context }, { signal });
        if (submitted.plan !== undefined) {
          const given = planForClient(submitted.plan.planJson);
          await handOut(aliases, { plans, session }, submitted.plan, given);
          return ok({ raw: JSON.stringify({ kind: "plan", payload: given }) });
        }
        if (!strict || submitted.issues.length === 0) return ok({ raw });
        const error = `The model gave no valid plan, though it was asked twice. ${issueLines(submitted.issues).join(" ")}`;
        return { status: 422, body: { ok: false, error, raw } };
      },
    ],
    [
      "/plan/approve",
      async (body) => {
        const asked = parsePlan(body);
        const session = await options.session();
        const { held, branch } = isStripped(asked.plan)
          ? await aliasToApprove({ plans, session, aliases }, asked.plan)
          : await planToApprove(plans, session, asked);
        const { approvalToken } = await plans.approve(session, held.planId, held.digest, {
          who: "a client of the RinaWarp port",
          channel: "loopback",
        });
        aliases.approved(session, held, sha256Hex(approvalToken));
        return ok(branch === undefined ? { approvalToken } : { approvalToken, branch });
      },
    ],
    [
      "/plan/execute",
      async (body, { signal }) => {
        const asked = parseApprovedPlan(body);
        const session = await idleSession(options);
        const held = isStripped(asked.plan)
          ? aliases.approvedWith(session, asked.plan, asked.approvalToken)
          : await knownPlan(plans, session, asked, (plan) => plan.state === "awaiting_approval");
        const plan = await plans.execute(session, held.planId, held.digest, asked.approvalToken, { signal });
        return outcome(plan, { result: runResult(plan) }, ["verifying", "done", "unverified"]);
      },
    ],
    [
      "/plan/verify",
      async (body, { signal }) => {
        const asked = parseApprovedPlan(body);
        const session = await idleSession(options);
        const held = isStripped(asked.plan)
          ? aliases.approvedWith(session, asked.plan, asked.approvalToken)
          : await knownPlan(plans, session, asked, (plan) => plan.runTurnId !== undefined);
        const { plan, results } = await plans.verify(session, held.planId, held.digest, asked.approvalToken, {
          signal,
        });
        return outcome(plan, { result: { ...runResult(plan), results: results.map(verified) } }, ["done"]);
      },
    ],
  ]);
}

function ok(body: Readonly<Record<string, unknown>>): RinaAnswer {
  return { status: 200, body: { ok: true, ...body } };
}

/** A failed run must not look like success to a client that reads only `ok`; the result is included. */
function outcome(
  plan: PlanView,
  body: Readonly<Record<string, unknown>>,
  good: readonly PlanView["state"][],
): RinaAnswer {
  if (good.includes(plan.state)) return ok(body);
  const failed = plan.steps.find((step) => step.state === "failed");
  const where =
    failed === undefined
      ? ""
      : ` Step ${failed.id} failed${failed.failureClass === "" ? "" : ` (${failed.failureClass})`}: ${lastLine(failed.evidence)}`;
  const what =
    plan.state === "unverified"
      ? "The plan ran and nothing verified it, so it does not count as done."
      : `The plan ended ${plan.state}.`;
  return { status: 422, body: { ok: false, error: `${what}${where} ${plan.remediation}`.trim(), ...body } };
}

function lastLine(evidence: string): string {
  return evidence.trim().split("\n").at(-1) ?? "";
}

/** The session if no turn runs in it; otherwise throws with what that turn waits for. */
async function idleSession(options: Pick<RinaServiceOptions, "session">): Promise<Session> {
  const session = await options.session();
  if (session.runningTurnId === undefined) return session;
  const question = session.requests.openQuestion;
  if (question === undefined) {
    throw new ServiceError("failed_precondition", "A plan is being written, run or verified here.", {
      reason: "turn_running",
      hint: "Wait for its end, then do this again.",
    });
  }
  const action = await session.services.redactor.redact(question.actionStatement);
  throw new ServiceError(
    "failed_precondition",
    `What runs here waits for a person's answer: ${question.title} ${action}`,
    {
      reason: "turn_running",
      hint: `Answer it in the session ${session.id}, e.g. by gennai open, then do this again.`,
    },
  );
}

const approvable = (plan: PlanView): boolean => ["draft", "preview", "awaiting_approval"].includes(plan.state);

/** The newest plan of the session with exactly these bytes, in a state that fits. */
async function heldPlan(
  plans: SessionPlans,
  session: Session,
  { planHash }: PlanBody,
  fits: (plan: PlanView) => boolean,
): Promise<PlanView | undefined> {
  const same = (await plans.list(session)).filter((plan) => plan.digest === planHash);
  return same.find(fits);
}

async function knownPlan(
  plans: SessionPlans,
  session: Session,
  asked: PlanBody,
  preferred: (plan: PlanView) => boolean,
): Promise<PlanView> {
  const held =
    (await heldPlan(plans, session, asked, preferred)) ?? (await heldPlan(plans, session, asked, () => true));
  if (held !== undefined) return held;
  throw new ServiceError("permission_denied", "This plan was never approved here.", { hint: "Approve it first." });
}

interface ToApprove {
  readonly held: KnownPlan;
  /** The branch that the workspace was switched to. */
  readonly branch: string | undefined;
}

/** The plan of a stripped form, previewed; the form must have been sent with that preview. */
async function aliasToApprove(
  {
    plans,
    session,
    aliases,
  }: { readonly plans: SessionPlans; readonly session: Session; readonly aliases: PlanAliases },
  stripped: JsonValue,
): Promise<ToApprove> {
  const held = aliases.toApprove(session, stripped);
  if (session.state.plans.get(held.planId)?.state === "awaiting_approval") return { held, branch: undefined };
  const assertSame = (): void => void aliases.toApprove(session, stripped);
  const branch = await previewOnBranch({ plans, session, held, assertSame });
  aliases.previewedAgain(session, held);
  return { held, branch };
}

/** A plan that the client holds whole: the one with these bytes, or a new one; previewed, as it must be. */
async function planToApprove(plans: SessionPlans, session: Session, asked: PlanBody): Promise<ToApprove> {
  const held = (await heldPlan(plans, session, asked, approvable)) ?? (await submitPlan(plans, session, asked));
  if (held.state === "awaiting_approval") return { held, branch: undefined };
  return { held, branch: await previewOnBranch({ plans, session, held, assertSame: () => undefined }) };
}

async function submitPlan(plans: SessionPlans, session: Session, { plan, planHash }: PlanBody): Promise<PlanView> {
  const { plan: held, issues } = await plans.submit(session, canonicalJson(plan), { strict: true, contract: false });
  if (held === undefined || issues.length > 0) {
    throw new ServiceError("invalid_argument", `The plan is not valid. ${issueLines(issues).join(" ")}`);
  }
  if (held.digest !== planHash)
    throw new ServiceError("permission_denied", "The plan was read differently from how it was hashed.");
  return held;
}

function runResult(plan: PlanView): Readonly<Record<string, unknown>> {
  const { planId, state, claimed, executed, verified: isVerified, remediation } = plan;
  const steps = plan.steps.map((step) => ({
    id: step.id,
    state: step.state,
    risk: step.risk,
    evidence: step.evidence,
    ...(step.failureClass === "" ? {} : { failureClass: step.failureClass }),
  }));
  return { planId, state, claimed, executed, verified: isVerified, remediation, steps };
}

function verified({
  stepId,
  command,
  passed,
  exitCode,
  output,
}: VerificationResult): Readonly<Record<string, unknown>> {
  return { stepId, command, passed, output, ...(exitCode === undefined ? {} : { exitCode }) };
}

interface PlanWish {
  readonly plans: SessionPlans;
  readonly session: Session;
  readonly text: string;
  /** Asks the model again if its answer is no valid envelope. */
  readonly strict: boolean;
  /** What the client knows about the user's position in the editor. */
  readonly context: JsonValue | undefined;
}

/** A turn of the model in plan mode; a valid plan is then stored as a draft. `raw` is the model's text. */
async function writePlan(
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

interface PreviewOnBranch {
  readonly session: Session;
  readonly plans: SessionPlans;
  readonly held: KnownPlan;
  /** Throws when the plan would do something else than what its client was given. */
  readonly assertSame: () => void;
}

/**
 * Previews a plan so that it can be approved, and resolves with the branch that the workspace was switched to; undefined if it
 * stays. A client of this port cannot choose a branch: if only branch protection is against the plan, the work moves to a new
 * branch at the same commit. Throws `ServiceError` with the first refusal.
 */
async function previewOnBranch({ session, plans, held, assertSame }: PreviewOnBranch): Promise<string | undefined> {
  const { plan, actions } = await plans.preview(session, held.planId);
  assertSame();
  if (plan.state === "awaiting_approval") return undefined;
  if (!isForBranch(actions)) throw refusal(plan, actions);
  const { signal } = new AbortController();
  const { name } = await session.acts.during("a change of the branch", () =>
    prepareSessionBranch(session, { task: plan.title }, signal),
  );
  const text = `The work moved to the branch ${name}: the branch before is protected, and a plan was approved.`;
  session.writer.emit({ type: "warning", text }, { turnId: "" });
  const again = await plans.preview(session, held.planId);
  if (again.plan.state !== "awaiting_approval") throw refusal(again.plan, again.actions);
  return name;
}

const protectedBranch = "branch/protected-branch";

function isForBranch(actions: readonly PlannedAction[]): boolean {
  const denied = actions.filter(({ verdict }) => verdict === "deny");
  return denied.length > 0 && denied.every(({ rule }) => rule === protectedBranch);
}

function refusal({ remediation }: PlanView, actions: readonly PlannedAction[]): ServiceError {
  const denied = actions.find(({ verdict }) => verdict === "deny");
  const why =
    denied === undefined
      ? remediation || "The plan cannot be approved as it is."
      : `Step ${denied.stepId}, action ${denied.actionIndex + 1} is refused: ${denied.reason}`;
  return new ServiceError("permission_denied", why, { hint: "Ask for another plan without it." });
}
